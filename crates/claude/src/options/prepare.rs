//! The last step before a start: everything about the options that needs the machine.
//!
//! Finds the CLI, asks its version, looks whether the directories exist, and ends in the pure mapping of `launch`.

use std::io;
use std::path::{Path, PathBuf};

use super::probe::probe_as;
use super::{Cli, FindError, Launch, LaunchError, Options, ProbeError, Search, validate};

/// Why no process can be started with these options on this machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// There is no CLI.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The CLI does not tell its version.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// The options contradict each other or the CLI's version.
    #[error(transparent)]
    Options(#[from] LaunchError),
    /// A directory cannot be used.
    #[error(
        "the directory {path:?} of the option `{option}` cannot be used: create it, or name another"
    )]
    Directory {
        /// The option.
        option: &'static str,
        /// The directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl Options {
    /// Finds the CLI for these options and asks its version; the answer is remembered while the file stays the
    /// same.
    pub async fn find_cli(&self) -> Result<Cli, PrepareError> {
        let process = &self.process;
        let mut search = Search::from_environment();
        if let Some(path) = &process.path {
            search = search.explicit(path);
        }
        let path = search.find()?;
        let version = probe_as(
            &path,
            process.executable,
            &process.executable_args,
            &process.env,
        )
        .await?;
        Ok(Cli::new(path, version))
    }

    /// Everything needed to start a process, checked against this machine.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), estelle_claude::options::PrepareError> {
    /// use estelle_claude::options::Options;
    ///
    /// let launch = Options::new().cwd("/srv/project").prepare().await?;
    /// println!("{launch:?}");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn prepare(&self) -> Result<Launch, PrepareError> {
        // Contradictions first: they are the caller's to mend whatever is installed.
        validate::check(self)?;
        self.check_directories_exist()?;
        let cli = self.find_cli().await?;
        Ok(self.launch(&cli)?)
    }

    fn check_directories_exist(&self) -> Result<(), PrepareError> {
        let process = &self.process;
        let named = [
            ("cwd", &process.cwd),
            ("project_config_root", &process.project_config_root),
        ];
        for (option, path) in named {
            if let Some(path) = path {
                directory(path).map_err(|source| PrepareError::Directory {
                    option,
                    path: path.clone(),
                    source,
                })?;
            }
        }
        Ok(())
    }
}

fn directory(path: &Path) -> io::Result<()> {
    if std::fs::metadata(path)?.is_dir() {
        Ok(())
    } else {
        Err(io::ErrorKind::NotADirectory.into())
    }
}
