//! The gateway of this machine put together: its tokens, its place beside the Pylon, and who belongs to the household.
//!
//! The token is made once and kept in the data folder, in a file that its user alone can read. A port that is taken is
//! no reason not to run, unless somebody asked for that port.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use estelle_gateway::{
    Devices, Gateway, GatewayConfig, GatewayParts, Key, OpenError, Patience, Settings,
};
use estelle_proto::{ApiError, ErrorCode, Retry, Right, Token};
use estelle_pylon::desk::LocalDesk;
use estelle_pylon::link::host::HostLink;
use estelle_pylon::store::Store;
use estelle_relay::{Api, RealmName, Recognized};
use http_body_util::{BodyExt as _, Collected};
use hyper::{Response, StatusCode};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::Config;
use crate::machine;
use crate::pylon::read_token;
use crate::up::put;

/// The file of the token.
const TOKEN: &str = "gateway.token";

/// The variable of tests for the silence that clients may keep, in milliseconds.
const PATIENCE: &str = "ESTELLE_GATEWAY_PATIENCE_MS";

/// Where the token of a data folder is.
pub(crate) fn token_file(data: &Path) -> PathBuf {
    data.join(TOKEN)
}

/// What the Pylon gives the gateway.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) desk: LocalDesk,
    pub(crate) host: HostLink,
    pub(crate) store: Store,
}

/// Opens the gateway, if one is wanted.
pub(crate) async fn open(
    config: &Config,
    data: &Path,
    inner: Inner,
    tasks: &TaskTracker,
    stop: CancellationToken,
) -> anyhow::Result<Option<Gateway>> {
    let section = &config.gateway;
    let Some(listen) = section.listen else {
        return Ok(None);
    };
    let wanted = GatewayConfig {
        listen,
        hosts: section.hosts.clone(),
        origins: section.origins.clone(),
        keys: keys(config, data)?,
        settings: Settings {
            idle_timeout_minutes: config.host.idle_timeout_minutes,
            shutdown_grace_seconds: config.host.shutdown_grace_seconds,
            shutdown_stops_runs: config.host.shutdown_stops_runs,
            deny_first: config.host.deny_first,
        },
        build: env!("CARGO_PKG_VERSION").to_owned(),
        patience: patience(),
    };
    let parts = GatewayParts {
        desk: inner.desk,
        host: inner.host,
        store: inner.store,
        devices: devices(data.to_owned()),
    };
    match Gateway::open(wanted, parts, tasks, stop).await {
        Ok(gateway) => {
            let address = gateway.address();
            tracing::info!(%address, "the gateway listens");
            Ok(Some(gateway))
        }
        Err(error @ OpenError::Bind { .. }) if Config::default().gateway.listen == Some(listen) => {
            tracing::warn!(%error, "there is no gateway; set `gateway.listen` to another address");
            Ok(None)
        }
        Err(error @ (OpenError::Bind { .. } | OpenError::NotLoopback(_) | OpenError::NoKey)) => {
            Err(error).context("failed to open the gateway; see `gateway.listen`")
        }
    }
}

/// How long clients may be silent. Only a test that cannot wait for it says otherwise.
fn patience() -> Patience {
    let told = std::env::var(PATIENCE).ok();
    let millis = told.and_then(|text| text.parse().ok());
    millis.map_or_else(Patience::default, |millis| {
        Patience::of(Duration::from_millis(millis))
    })
}

/// The gateway as devices reach it through the relay of the same process: under the origin of the page, with their own secret
/// and rights. It is empty while there is no gateway.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reached(Arc<RwLock<Option<Gateway>>>);

impl Reached {
    /// From now on it is this one.
    pub(crate) fn set(&self, gateway: Option<Gateway>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = gateway;
    }

    fn get(&self) -> Option<Gateway> {
        let current = self.0.read().unwrap_or_else(PoisonError::into_inner);
        current.clone()
    }

    /// What the relay hands requests to. Only devices of this household come through.
    pub(crate) fn api(&self, realm: RealmName) -> Api {
        let reached = self.clone();
        Arc::new(move |device: Recognized, request| {
            let (reached, realm) = (reached.clone(), realm.clone());
            Box::pin(async move {
                let gateway = reached.get().filter(|_| device.realm == realm);
                let Some(gateway) = gateway else {
                    let mut none = Response::new(Bytes::from_static(NOTHING));
                    *none.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                    return none;
                };
                let (parts, body) = gateway.answer(device.rights, request).await.into_parts();
                let body = body.collect().await.map(Collected::to_bytes);
                Response::from_parts(parts, body.unwrap_or_default())
            })
        })
    }
}

/// The answer while there is no gateway.
const NOTHING: &[u8] =
    br#"{"error":"there is no gateway on this machine now","code":"host_unavailable"}"#;

fn keys(config: &Config, data: &Path) -> anyhow::Result<Vec<Key>> {
    let all = vec![
        Right::View,
        Right::Prompt,
        Right::Approve,
        Right::Terminal,
        Right::Admin,
    ];
    let mut keys = vec![Key::new(&own_token(data)?, all)];
    if let Some(file) = &config.gateway.viewer_token_file {
        keys.push(Key::new(&read_token(file)?, vec![Right::View]));
    }
    Ok(keys)
}

/// The token of this machine, made when there is none.
fn own_token(data: &Path) -> anyhow::Result<Token> {
    let path = token_file(data);
    if path.exists() {
        return read_token(&path);
    }
    // Two of them have 244 random bits.
    let random = || uuid::Uuid::new_v4().simple().to_string();
    let token = Token::parse(&format!("esg_{}{}", random(), random()))?;
    put(&path, token.reveal())?;
    Ok(token)
}

/// Asks the relay who belongs to the household, as somebody at the machine would.
fn devices(data: PathBuf) -> Devices {
    Arc::new(move || {
        let data = data.clone();
        Box::pin(async move {
            let listed = machine::paired(&[data]).await;
            listed.map_err(|error| {
                tracing::debug!(%error, "the relay does not say who belongs to the household");
                let text = "the relay is away".to_owned();
                ApiError::new(ErrorCode::HostUnavailable, text, Retry::Later)
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_token_is_made_once_and_is_for_its_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let first = own_token(folder.path()).unwrap();
        let again = own_token(folder.path()).unwrap();
        assert_eq!(first.reveal(), again.reveal());
        let mode = std::fs::metadata(token_file(folder.path())).unwrap();
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    }
}
