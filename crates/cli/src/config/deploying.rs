//! The keys of the section `deploy`: where releases are published, and how they are made.

use std::path::{Path, PathBuf};

use estelle_pylon::release::{self, Place, Releases};

use super::given::Given;
use super::keys::{Key, text};

/// The folder of everything that belongs to deploying, in the data folder.
const FOLDER: &str = "deploy";

/// How new builds are made and brought to this machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct DeploySection {
    /// Where the published release is; none means in the data folder.
    pub(crate) manifest: Option<Place>,
    pub(crate) apk_url: Option<String>,
    pub(crate) exe_url: Option<String>,
}

impl DeploySection {
    /// The folder of everything that belongs to deploying.
    pub(crate) fn folder(data: &Path) -> PathBuf {
        data.join(FOLDER)
    }

    /// Where releases are.
    pub(crate) fn releases(&self, data: &Path) -> Releases {
        let usual = || Place::File(Self::folder(data).join(release::FILE));
        Releases {
            place: self.manifest.clone().unwrap_or_else(usual),
            apk_url: self.apk_url.clone(),
            exe_url: self.exe_url.clone(),
        }
    }
}

/// A file or an address.
fn place(given: &Given) -> Result<Option<Place>, String> {
    let is_url = given.one()?.contains("://");
    Ok(if is_url {
        given.url(&["https", "http"])?.map(Place::Url)
    } else {
        given.path()?.map(Place::File)
    })
}

fn optional(value: Option<&String>) -> toml::Value {
    text(value.map_or("", String::as_str))
}

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "deploy.manifest",
        variables: &["ESTELLE_DEPLOY_MANIFEST"],
        about: "The file or the address of deploy.json, which says what is published; empty means a file in the data folder.",
        take: |config, given| {
            config.deploy.manifest = place(given)?;
            Ok(())
        },
        show: |config| {
            let manifest = config.deploy.manifest.as_ref();
            text(manifest.map(Place::to_string).unwrap_or_default())
        },
    },
    Key {
        name: "deploy.apk_url",
        variables: &["ESTELLE_DEPLOY_APK_URL"],
        about: "Where phones get the app of the published release; empty means that there is none.",
        take: |config, given| {
            config.deploy.apk_url = given.url(&["https", "http"])?;
            Ok(())
        },
        show: |config| optional(config.deploy.apk_url.as_ref()),
    },
    Key {
        name: "deploy.exe_url",
        variables: &["ESTELLE_DEPLOY_EXE_URL"],
        about: "Where desktops get the app of the published release; empty means that there is none.",
        take: |config, given| {
            config.deploy.exe_url = given.url(&["https", "http"])?;
            Ok(())
        },
        show: |config| optional(config.deploy.exe_url.as_ref()),
    },
];
