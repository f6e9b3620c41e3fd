//! The keys of the section `deploy`: what is built and how, and where releases are published.

use std::path::{Path, PathBuf};
use std::time::Duration;

use estelle_pylon::deploy::{Commands, Language};
use estelle_pylon::release::{self, Place, Releases};

use super::given::Given;
use super::keys::{Key, number, path, text};

/// The folder of everything that belongs to deploying, in the data folder.
const FOLDER: &str = "deploy";
/// Installs the packages of this repository's web app, and builds it.
const NPM: &str = "cd web && npm ci --no-audit --no-fund && npm run build";
/// Builds this repository's program.
const BUILD: &str = "cargo build --release --locked -p estelle && install -m 755 \"$CARGO_TARGET_DIR/release/estelle\" \"$ESTELLE_DEPLOY_OUT/estelle\"";

/// How new builds are made and brought to this machine.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DeploySection {
    pub(crate) repository: Option<String>,
    pub(crate) branch: String,
    pub(crate) remote: Option<String>,
    pub(crate) allow_older: bool,
    pub(crate) apk: Option<String>,
    pub(crate) exe: Option<String>,
    pub(crate) npm: Option<String>,
    pub(crate) build: String,
    pub(crate) upload: Option<String>,
    pub(crate) relay: Option<String>,
    pub(crate) step_limit_seconds: u64,
    pub(crate) program: Option<PathBuf>,
    pub(crate) language: Language,
    /// Where the published release is; none means in the data folder.
    pub(crate) manifest: Option<Place>,
    pub(crate) apk_url: Option<String>,
    pub(crate) exe_url: Option<String>,
}

impl Default for DeploySection {
    fn default() -> Self {
        Self {
            repository: None,
            branch: "main".to_owned(),
            remote: None,
            allow_older: false,
            apk: None,
            exe: None,
            npm: Some(NPM.to_owned()),
            build: BUILD.to_owned(),
            upload: None,
            relay: None,
            step_limit_seconds: 1800,
            program: None,
            language: Language::English,
            manifest: None,
            apk_url: None,
            exe_url: None,
        }
    }
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

    /// The commands of the steps.
    pub(crate) fn commands(&self) -> Commands {
        Commands {
            apk: self.apk.clone(),
            exe: self.exe.clone(),
            npm: self.npm.clone(),
            build: self.build.clone(),
            upload: self.upload.clone(),
            relay: self.relay.clone(),
        }
    }

    /// How long a command may take.
    pub(crate) fn step_limit(&self) -> Duration {
        Duration::from_secs(self.step_limit_seconds)
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

/// A folder, or an address that git understands.
fn repository(given: &Given) -> Result<Option<String>, String> {
    let Some(text) = given.maybe()? else {
        return Ok(None);
    };
    if text.contains("://") {
        return given.url(&["https", "ssh", "git", "file"]);
    }
    let folder = given.path()?;
    Ok(folder.map(|folder| folder.display().to_string()))
}

/// The name of a branch or a remote: nothing that git could take for an option or something else.
fn reference(given: &Given) -> Result<Option<String>, String> {
    let Some(text) = given.maybe()? else {
        return Ok(None);
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let is_one = text.chars().all(is_plain) && !text.starts_with(['-', '/', '.']);
    if !is_one || text.contains("..") || text.ends_with(['/', '.']) {
        return Err(format!("is `{text}`, and a name such as `main` is wanted"));
    }
    Ok(Some(text.to_owned()))
}

/// A line for the shell.
fn command(given: &Given) -> Result<Option<String>, String> {
    Ok(given.maybe()?.map(str::to_owned))
}

fn language(given: &Given) -> Result<Language, String> {
    match given.one()? {
        "en" => Ok(Language::English),
        "ko" => Ok(Language::Korean),
        "ja" => Ok(Language::Japanese),
        other => Err(format!(
            "is `{other}`, and one of `en`, `ko` and `ja` is wanted"
        )),
    }
}

fn optional(value: Option<&String>) -> toml::Value {
    text(value.map_or("", String::as_str))
}

/// A key whose value is a line for the shell.
macro_rules! command_key {
    ($name:literal, $variable:literal, $field:ident, $about:literal) => {
        Key {
            name: $name,
            variables: &[$variable],
            about: $about,
            take: |config, given| {
                config.deploy.$field = command(given)?;
                Ok(())
            },
            show: |config| optional(config.deploy.$field.as_ref()),
        }
    };
}

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "deploy.repository",
        variables: &["ESTELLE_DEPLOY_REPOSITORY"],
        about: "What `estelle deploy` builds: a folder, or an address that git understands; empty means that nothing is deployed here.",
        take: |config, given| {
            config.deploy.repository = repository(given)?;
            Ok(())
        },
        show: |config| optional(config.deploy.repository.as_ref()),
    },
    Key {
        name: "deploy.branch",
        variables: &["ESTELLE_DEPLOY_BRANCH"],
        about: "The branch that is deployed.",
        take: |config, given| {
            config.deploy.branch = reference(given)?.ok_or("must not be empty")?;
            Ok(())
        },
        show: |config| text(&config.deploy.branch),
    },
    Key {
        name: "deploy.remote",
        variables: &["ESTELLE_DEPLOY_REMOTE"],
        about: "The remote of the repository that must not be ahead, and gets what it has not; empty means none.",
        take: |config, given| {
            config.deploy.remote = reference(given)?;
            Ok(())
        },
        show: |config| optional(config.deploy.remote.as_ref()),
    },
    Key {
        name: "deploy.allow_older",
        variables: &["ESTELLE_DEPLOY_ALLOW_OLDER"],
        about: "Another machine may lead this one to a build that is older than the one that runs.",
        take: |config, given| {
            config.deploy.allow_older = given.switch()?;
            Ok(())
        },
        show: |config| config.deploy.allow_older.into(),
    },
    command_key!(
        "deploy.apk",
        "ESTELLE_DEPLOY_APK",
        apk,
        "The command that builds the phone app; empty means that there is none."
    ),
    command_key!(
        "deploy.exe",
        "ESTELLE_DEPLOY_EXE",
        exe,
        "The command that builds the desktop app; empty means that there is none."
    ),
    command_key!(
        "deploy.npm",
        "ESTELLE_DEPLOY_NPM",
        npm,
        "The command that installs packages before the build; empty means none."
    ),
    Key {
        name: "deploy.build",
        variables: &["ESTELLE_DEPLOY_BUILD"],
        about: "The command that builds the program, and leaves it as `estelle` in $ESTELLE_DEPLOY_OUT.",
        take: |config, given| {
            config.deploy.build = command(given)?.ok_or("must not be empty")?;
            Ok(())
        },
        show: |config| text(&config.deploy.build),
    },
    command_key!(
        "deploy.upload",
        "ESTELLE_DEPLOY_UPLOAD",
        upload,
        "The command that publishes the release elsewhere; empty means that the manifest alone is written."
    ),
    command_key!(
        "deploy.relay",
        "ESTELLE_DEPLOY_RELAY",
        relay,
        "The command that deploys a relay which is a program of its own; empty means none."
    ),
    Key {
        name: "deploy.step_limit_seconds",
        variables: &["ESTELLE_DEPLOY_STEP_LIMIT_SECONDS"],
        about: "Seconds that a command of a deploy may take.",
        take: |config, given| {
            config.deploy.step_limit_seconds = given.number(1..=86_400)?;
            Ok(())
        },
        show: |config| number(config.deploy.step_limit_seconds),
    },
    Key {
        name: "deploy.program",
        variables: &["ESTELLE_DEPLOY_PROGRAM"],
        about: "What is started on this machine, and leads to the new program after a deploy; empty means the way by which it was started.",
        take: |config, given| {
            config.deploy.program = given.path()?;
            Ok(())
        },
        show: |config| path(config.deploy.program.as_ref()),
    },
    Key {
        name: "deploy.language",
        variables: &["ESTELLE_DEPLOY_LANGUAGE"],
        about: "The language of the one-line summary of a deploy: `en`, `ko` or `ja`.",
        take: |config, given| {
            config.deploy.language = language(given)?;
            Ok(())
        },
        show: |config| {
            text(match config.deploy.language {
                Language::English => "en",
                Language::Korean => "ko",
                Language::Japanese => "ja",
            })
        },
    },
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
