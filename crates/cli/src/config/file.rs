//! From the file and the environment to a checked configuration.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::Config;
use super::given::Given;
use super::keys::{Key, keys};

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Default,
    File,
    Variable(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File => f.write_str("file"),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// A configuration with the origin of each value.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    /// The file, whether it is there or not.
    pub(crate) path: Option<PathBuf>,
    pub(super) sources: BTreeMap<&'static str, Source>,
    /// Keys that do not hold what was given, each with a sentence that says what holds instead.
    pub(super) remarks: BTreeMap<&'static str, String>,
}

impl Loaded {
    /// What holds where nobody has said anything.
    pub(super) fn defaults() -> Self {
        let sources = keys().map(|key| (key.name, Source::Default));
        Self {
            config: Config::default(),
            path: None,
            sources: sources.collect(),
            remarks: BTreeMap::new(),
        }
    }

    /// Reads and checks everything. A file that was named must be there; the usual one need not.
    pub(crate) fn read(
        named: Option<&Path>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> anyhow::Result<Self> {
        let named = named.filter(|path| !path.as_os_str().is_empty());
        let path = named.map(Path::to_owned).or_else(|| usual(&variable));
        let written = match &path {
            Some(path) => read_file(path, named.is_some())?,
            None => None,
        };
        let mut values = match (&path, written) {
            (Some(path), Some(text)) => of_text(path, &text)?,
            _ => BTreeMap::new(),
        };
        let mut loaded = Self {
            config: Config::default(),
            path,
            sources: BTreeMap::new(),
            remarks: BTreeMap::new(),
        };
        for key in keys() {
            let in_file = values.remove(key.name);
            loaded.settle(key, in_file, &variable)?;
        }
        loaded.check_pairs()?;
        Ok(loaded)
    }

    fn settle(
        &mut self,
        key: &Key,
        in_file: Option<toml::Value>,
        variable: &impl Fn(&str) -> Option<OsString>,
    ) -> anyhow::Result<()> {
        let in_environment = key.variables.iter().find_map(|name| {
            let value = variable(name).filter(|value| !value.is_empty())?;
            Some((*name, value))
        });
        let (source, given) = match (in_environment, in_file) {
            (Some((name, value)), _) => {
                let text = value.into_string();
                let text = text.map_err(|_| "is no text".to_owned());
                (Source::Variable(name), text.map(Given::One))
            }
            (None, Some(value)) => (Source::File, Given::of_file(&value)),
            (None, None) => {
                self.sources.insert(key.name, Source::Default);
                return Ok(());
            }
        };
        let taken = given.and_then(|given| {
            (key.take)(&mut self.config, &given)?;
            Ok(given)
        });
        match taken {
            Ok(given) => {
                if key.gives_way() {
                    self.compare(key, &source, &given);
                }
                self.sources.insert(key.name, source);
            }
            Err(reason) if key.gives_way() => {
                let holds = (key.show)(&self.config);
                let place = self.place(key, &source);
                self.remarks
                    .insert(key.name, format!("{place} {reason}; {holds} holds instead"));
                self.sources.insert(key.name, Source::Default);
            }
            Err(reason) => bail!("{} {reason}", self.place(key, &source)),
        }
        Ok(())
    }

    /// Remarks on a value that was brought into its limits.
    fn compare(&mut self, key: &Key, source: &Source, given: &Given) {
        let holds = (key.show)(&self.config).to_string();
        let text = given.one().unwrap_or_default();
        if text.trim_start_matches(['+', '0']) != holds.trim_start_matches('0') {
            let place = self.place(key, source);
            let remark = format!("{place} is `{text}`; {holds} holds instead. {}", key.about);
            self.remarks.insert(key.name, remark);
        }
    }

    /// How a key is named to somebody who has to correct it.
    fn place(&self, key: &Key, source: &Source) -> String {
        match (source, &self.path) {
            (Source::Variable(name), _) => format!("`{}` (from the variable {name})", key.name),
            (Source::File, Some(path)) => format!("`{}` in {}", key.name, path.display()),
            (Source::File | Source::Default, _) => format!("`{}`", key.name),
        }
    }

    /// What no key can check alone.
    fn check_pairs(&self) -> anyhow::Result<()> {
        let relay = &self.config.relay;
        match (&relay.certificate, &relay.key) {
            (Some(_), None) => bail!("`relay.certificate` is set, and `relay.key` is missing"),
            (None, Some(_)) => bail!("`relay.key` is set, and `relay.certificate` is missing"),
            (Some(_), Some(_)) | (None, None) => Ok(()),
        }
    }
}

/// The place that the XDG rules give.
pub(super) fn usual(variable: &impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let folder = absolute("XDG_CONFIG_HOME");
    let folder = folder.or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("estelle/config.toml"))
}

fn read_file(path: &Path, must_exist: bool) -> anyhow::Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => Ok(None),
        Err(error) => Err(error).with_context(|| format!("failed to read {}", path.display())),
    }
}

/// The values of a file by the full names of their keys. A name that is no key is refused: it would do nothing.
fn of_text(path: &Path, text: &str) -> anyhow::Result<BTreeMap<String, toml::Value>> {
    let table: toml::Table = text
        .parse()
        .with_context(|| format!("{} is no valid TOML", path.display()))?;
    let mut values = BTreeMap::new();
    for (name, value) in table {
        if let toml::Value::Table(section) = value {
            let section = section
                .into_iter()
                .map(|(key, value)| (format!("{name}.{key}"), value));
            values.extend(section);
        } else {
            values.insert(name, value);
        }
    }
    let is_key = |name: &str| keys().any(|key| key.name == name);
    if let Some(unknown) = values.keys().find(|name| !is_key(name)) {
        let section = unknown.split_once('.').map_or("", |(section, _)| section);
        let of_section =
            |key: &&Key| key.name.split_once('.').map_or("", |(own, _)| own) == section;
        let mut known: Vec<&str> = keys().filter(of_section).map(|key| key.name).collect();
        if known.is_empty() {
            known = vec![
                "log",
                "log_format",
                "allow_plaintext",
                "relay",
                "pylon",
                "host",
            ];
        }
        let known = known.join(", ");
        bail!(
            "`{unknown}` in {} is no key; there are {known}",
            path.display()
        );
    }
    Ok(values)
}
