//! Which build is published, and where an app gets it.

use estelle_proto::version::{
    AppUpdateRequest, AppUpdateResult, VersionCheckRequest, VersionCheckResult,
};
use estelle_proto::{ApiError, ErrorCode, Reply as _, Retry};

use super::context::{Asker, Context};
use super::error::{Told, refusal};
use crate::release::{LoadError, Release};

pub(super) async fn check(cx: &Context, asker: &Asker, request: VersionCheckRequest) {
    let releases = &cx.config.releases;
    let result = VersionCheckResult {
        apk_url: releases.apk_url.clone(),
        exe_url: releases.exe_url.clone(),
        ..VersionCheckResult::default()
    };
    let result = match Release::load(&releases.place).await {
        Ok(release) => VersionCheckResult {
            version: release.version,
            commit: release.commit,
            build_time: release.build_time,
            ..result
        },
        Err(error) => result.failed(error.told()),
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

pub(super) async fn update(cx: &Context, asker: &Asker, request: AppUpdateRequest) {
    let result = match try_update(cx).await {
        Ok(result) => result,
        Err(error) => AppUpdateResult::default().failed(error),
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

async fn try_update(cx: &Context) -> Result<AppUpdateResult, ApiError> {
    let releases = &cx.config.releases;
    if releases.apk_url.is_none() && releases.exe_url.is_none() {
        let text = "no app is published by this machine: `deploy.apk_url` and `deploy.exe_url` are not configured";
        return Err(refusal(ErrorCode::NotConfigured, text));
    }
    let release = Release::load(&releases.place).await;
    let release = release.map_err(|error| error.told())?;
    Ok(AppUpdateResult {
        version: release.version,
        commit: release.commit,
        apk_url: releases.apk_url.clone(),
        exe_url: releases.exe_url.clone(),
        ..AppUpdateResult::default()
    })
}

impl Told for LoadError {
    fn told(&self) -> ApiError {
        let retry = match self {
            Self::Missing(_) | Self::Unreadable { .. } => Retry::Never,
            Self::Io { .. } | Self::Fetch { .. } => Retry::Later,
        };
        ApiError::new(ErrorCode::Internal, self.to_string(), retry)
    }
}
