//! From a wish to what is executed.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use estelle_claude::options::{
    Cli, Launch, LaunchError, Options, SettingSource, Settings, SystemPrompt,
};
use estelle_claude::wire::control::Initialize;
use estelle_proto::{ApiError, ErrorCode, Retry};

use super::environment::{environment, run_marker};
use super::frozen::FrozenProject;
use super::gate::{self, CliMode};
use super::servers::{self, ServerWarning, StartIn};
use super::wish::{FolderTrust, LaunchWish};
use crate::run::{LaunchRecord, RunFolder};

/// The tool servers of a run, in its folder.
const SERVERS_FILE: &str = "mcp.json";

/// Everything needed to start a run.
#[derive(Debug)]
pub struct Prepared {
    /// What to execute.
    pub launch: LaunchRecord,
    /// Files the arguments name; they go into the run's folder before the start, see [`Prepared::store_files`].
    pub files: Vec<RunFile>,
    /// The folder's configuration, which goes there, too.
    pub frozen: Option<FrozenProject>,
    /// The first request to the process.
    pub initialize: Initialize,
    /// What the CLI itself is told about permissions.
    pub mode: CliMode,
    /// What is left out, to be told to people.
    pub warnings: Vec<ServerWarning>,
    /// Settings of the folder are read from the folder itself, whenever they change.
    pub takes_settings_in: bool,
}

/// A file of a run's folder.
#[derive(Clone, PartialEq, Eq)]
pub struct RunFile {
    /// Its name in the folder.
    pub name: &'static str,
    /// Its contents, which may hold secrets.
    pub contents: String,
}

impl std::fmt::Debug for RunFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RunFile({}, {} bytes)", self.name, self.contents.len())
    }
}

/// Why a run cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchRefused {
    /// No folder was named.
    #[error("no working folder was named: say in which folder the agent shall work")]
    NoFolder,
    /// The path depends on where one stands.
    #[error("the working folder {path:?} is a relative path: name it from the root on")]
    RelativeFolder {
        /// As named.
        path: PathBuf,
    },
    /// It is not there (any more).
    #[error("the working folder {path:?} does not exist: create it again, or choose another")]
    FolderGone {
        /// As named.
        path: PathBuf,
    },
    /// It is something else.
    #[error("{path:?} is not a folder: name the folder that holds it")]
    NotAFolder {
        /// As named.
        path: PathBuf,
    },
    /// It may not be entered.
    #[error("the working folder {path:?} cannot be entered: check its permissions")]
    FolderClosed {
        /// As named.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The CLI would refuse the arguments.
    #[error(transparent)]
    Options(#[from] LaunchError),
    /// A path cannot be written into the run's record.
    #[error("{path:?} is not valid UTF-8: rename it")]
    NotText {
        /// The path.
        path: PathBuf,
    },
}

impl LaunchRefused {
    /// The same for the wire.
    pub fn to_api(&self) -> ApiError {
        let code = match self {
            Self::NoFolder
            | Self::RelativeFolder { .. }
            | Self::FolderGone { .. }
            | Self::NotAFolder { .. }
            | Self::FolderClosed { .. }
            | Self::NotText { .. } => ErrorCode::BadPath,
            Self::Options(_) => ErrorCode::AgentUnavailable,
        };
        ApiError::new(code, self.to_string(), Retry::Never)
    }
}

/// Checks a wish and writes down what is to be executed. `inherited` is the environment of this program.
pub fn prepare(
    wish: &LaunchWish,
    cli: &Cli,
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Prepared, LaunchRefused> {
    check_folder(&wish.working_dir)?;
    let frozen = wish
        .frozen
        .clone()
        .filter(|_| wish.trust == FolderTrust::Granted && FrozenProject::suits(cli.version()));
    let start = match &frozen {
        Some(_) => StartIn::Folder,
        None => StartIn::Default,
    };
    let (document, warnings) = servers::document(wish, start);
    let files: Vec<RunFile> = document
        .into_iter()
        .map(|contents| RunFile {
            name: SERVERS_FILE,
            contents,
        })
        .collect();
    let mut options = options(wish, &files)?;
    if frozen.is_some() {
        options = options.project_config_root(FrozenProject::root(&wish.run_folder));
    }
    let launch = options.launch(cli)?;
    Ok(Prepared {
        launch: record(wish, cli, &launch, inherited)?,
        files,
        takes_settings_in: wish.trust == FolderTrust::Granted && frozen.is_none(),
        frozen,
        initialize: with_tools(options.initialize(), wish),
        mode: CliMode::of(&wish.mode),
        warnings,
    })
}

/// The greeting of a run that was started with this wish, for a host that takes it up.
pub fn greeting(wish: &LaunchWish) -> Initialize {
    // Only the arguments can be refused, and they are not looked at.
    let greeting = options(wish, &[]).map(|options| options.initialize());
    with_tools(greeting.unwrap_or_default(), wish)
}

/// Names the server of our own tools, whose calls come over the control protocol.
fn with_tools(mut greeting: Initialize, wish: &LaunchWish) -> Initialize {
    greeting.sdk_mcp_servers = wish.tool_server.clone().map(|name| vec![name]);
    greeting
}

impl Prepared {
    /// Writes the files into the folder of the run, readable by its owner alone.
    pub fn store_files(&self, folder: &RunFolder) -> io::Result<()> {
        for file in &self.files {
            folder.store_file(file.name, file.contents.as_bytes())?;
        }
        match &self.frozen {
            Some(frozen) => frozen.store(folder),
            None => Ok(()),
        }
    }
}

/// Says what is wrong with a folder to work in.
pub fn check_folder(path: &Path) -> Result<(), LaunchRefused> {
    let path = path.to_owned();
    if path.as_os_str().is_empty() {
        return Err(LaunchRefused::NoFolder);
    }
    if path.is_relative() {
        return Err(LaunchRefused::RelativeFolder { path });
    }
    match std::fs::metadata(&path) {
        Ok(metadata) if !metadata.is_dir() => return Err(LaunchRefused::NotAFolder { path }),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(LaunchRefused::FolderGone { path });
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(LaunchRefused::NotAFolder { path });
        }
        Err(source) => return Err(LaunchRefused::FolderClosed { path, source }),
    }
    rustix::fs::access(&path, rustix::fs::Access::EXEC_OK).map_err(|error| {
        LaunchRefused::FolderClosed {
            path,
            source: error.into(),
        }
    })
}

fn options(wish: &LaunchWish, files: &[RunFile]) -> Result<Options, LaunchRefused> {
    let sources: &[SettingSource] = match wish.trust {
        FolderTrust::Granted => &[
            SettingSource::User,
            SettingSource::Project,
            SettingSource::Local,
        ],
        FolderTrust::Withheld => &[SettingSource::User],
    };
    let mut prompt = SystemPrompt::preset();
    if let Some(text) = &wish.append_system_prompt {
        prompt = prompt.append(text);
    }
    let mut options = Options::new()
        .cwd(&wish.working_dir)
        .include_partial_messages(true)
        .forward_subagent_text(true)
        .replay_user_messages(true)
        .permission_prompt_tool_name("stdio")
        .permission_mode(CliMode::of(&wish.mode).wire())
        .setting_sources(sources.iter().copied())
        .strict_mcp_config(true)
        .settings(Settings::Inline(gate::settings(wish.hooks)))
        .system_prompt(prompt);
    if let Some(resume) = &wish.resume {
        options = options.resume(resume.as_str());
    }
    if let Some(model) = wish.model.as_deref().filter(|model| *model != "auto") {
        options = options.model(model);
    }
    for file in files {
        let path = wish.run_folder.join(file.name);
        let path = path.into_os_string().into_string();
        let path = path.map_err(|path| LaunchRefused::NotText { path: path.into() })?;
        options = options.extra_arg("mcp-config", path);
    }
    Ok(options)
}

fn record(
    wish: &LaunchWish,
    cli: &Cli,
    launch: &Launch,
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<LaunchRecord, LaunchRefused> {
    let text = |argument: &OsString| {
        argument
            .to_str()
            .map(str::to_owned)
            .ok_or_else(|| LaunchRefused::NotText {
                path: argument.into(),
            })
    };
    Ok(LaunchRecord {
        program: launch.program.clone(),
        args: launch.args.iter().map(text).collect::<Result<_, _>>()?,
        env: environment(
            inherited,
            &launch.env,
            run_marker(&wish.conversation, wish.generation, &wish.run_folder),
        ),
        cwd: wish.working_dir.clone(),
        cli_version: cli.version().to_string(),
    })
}
