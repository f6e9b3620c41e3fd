//! What a repository's configuration could have run, switched off.
//!
//! Most keys are known by name ([`FIXED`]). Filters, merge drivers and branches have names that the repository chose; they
//! are looked up, which runs nothing, and overruled one by one.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::command::{Call, Git, GitError};

/// Settings that hold for every call.
pub(super) const FIXED: [(&str, &str); 31] = [
    // Nothing is executed in the folder, and its owner does not matter therefore.
    ("safe.directory", "*"),
    ("safe.bareRepository", "explicit"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.sshCommand", "false"),
    ("core.askPass", "false"),
    ("core.gitProxy", ""),
    ("core.alternateRefsCommand", ""),
    ("core.attributesFile", "/dev/null"),
    ("core.quotePath", "false"),
    ("core.commitGraph", "true"),
    ("credential.helper", ""),
    ("protocol.allow", "never"),
    ("diff.external", ""),
    ("diff.ignoreSubmodules", "all"),
    ("diff.orderFile", "/dev/null"),
    ("diff.renameLimit", "1000"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("log.showSignature", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("core.untrackedCache", "false"),
];

/// The most filters and drivers that are switched off one by one.
const MOST: usize = 500;
/// The most bytes of names of settings.
const MOST_BYTES: usize = 1024 * 1024;

/// A setting that overrules one of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(super) key: OsString,
    pub(super) value: &'static str,
}

impl Git {
    /// What has to be switched off in the repository of a folder.
    pub(super) async fn defuse(&self, folder: &Path) -> Result<Vec<Setting>, GitError> {
        let args = ["config", "--list", "--name-only", "-z"];
        let said = self.call(Call::new(folder, args, MOST_BYTES)).await?;
        if said.is_cut {
            return Err(GitError::Overloaded);
        }
        settings(&said.out).ok_or(GitError::Overloaded)
    }
}

/// What overrules these settings, unless there are too many.
fn settings(names: &[u8]) -> Option<Vec<Setting>> {
    let mut drivers: BTreeSet<(&str, &[u8])> = BTreeSet::new();
    for name in names.split(|byte| *byte == 0) {
        drivers.extend(driver(name));
    }
    if drivers.len() > MOST {
        return None;
    }
    let mut all = Vec::new();
    for (section, name) in drivers {
        let keys: &[(&str, &'static str)] = match section {
            // With an empty `process` git asks for neither of the others.
            "filter" => &[
                ("process", ""),
                ("clean", ""),
                ("smudge", ""),
                ("required", "false"),
            ],
            // A branch may bring options for every merge into it, a program as strategy among them.
            "branch" => &[("mergeoptions", "--no-verify")],
            // One that fails leaves the file in conflict, for a person to look at.
            _ => &[("driver", "false")],
        };
        all.extend(keys.iter().map(|(key, value)| {
            let mut full = OsString::from(format!("{section}."));
            full.push(OsStr::from_bytes(name));
            full.push(format!(".{key}"));
            Setting { key: full, value }
        }));
    }
    Some(all)
}

/// The section and the name of a filter, a merge driver or a branch with options, if the setting is one of it.
fn driver(setting: &[u8]) -> Option<(&'static str, &[u8])> {
    let sections: [(&str, Option<&[u8]>); 3] = [
        ("filter", None),
        ("merge", Some(b".driver")),
        ("branch", Some(b".mergeoptions")),
    ];
    let mut dot = setting.splitn(2, |byte| *byte == b'.');
    let (first, rest) = (dot.next()?, dot.next()?);
    let (section, wanted) = sections
        .into_iter()
        .find(|(section, _)| section.as_bytes() == first)?;
    let dot = rest.iter().rposition(|byte| *byte == b'.')?;
    let (name, key) = rest.split_at(dot);
    let fits = wanted.is_none_or(|wanted| key == wanted);
    fits.then_some((section, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_and_driver_is_overruled_whatever_its_name() {
        let names = b"core.bare\0filter.a=b.c d.clean\0filter.lfs.process\0filter.lfs.required\0merge.tool\0merge.odd.driver\0merge.odd.name\0branch.main.remote\0branch.a.b.mergeoptions\0";
        let keys: Vec<String> = settings(names)
            .unwrap()
            .into_iter()
            .map(|setting| format!("{}={}", setting.key.to_str().unwrap(), setting.value))
            .collect();
        let wanted = [
            "branch.a.b.mergeoptions=--no-verify",
            "filter.a=b.c d.process=",
            "filter.a=b.c d.clean=",
            "filter.a=b.c d.smudge=",
            "filter.a=b.c d.required=false",
            "filter.lfs.process=",
            "filter.lfs.clean=",
            "filter.lfs.smudge=",
            "filter.lfs.required=false",
            "merge.odd.driver=false",
        ];
        assert_eq!(keys, wanted);
        let many: Vec<String> = (0..=MOST).map(|n| format!("filter.f{n}.clean\0")).collect();
        assert_eq!(settings(many.concat().as_bytes()), None);
    }
}
