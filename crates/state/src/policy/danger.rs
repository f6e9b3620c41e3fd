//! Commands that destroy a machine: judged by what they do, not by how they are written.
//!
//! Works on the facts of the shell module, where wrappers are off and quoting is gone. A target that is only known at
//! run time is a doubt, not a refusal.

use super::{
    glob::{ANY, STAR, is_open},
    paths::{Place, absolute, fold, is_within},
    patterns::DenyPatterns,
    reason::{Doubt, Reason},
    rules::{line_matches, line_may_match},
    shell::{Facts, Invocation},
};

/// Folders of which a system consists. Removing one of them as a whole is never what was meant.
const SYSTEM: [&str; 22] = [
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "usr",
    "var",
    "users",
    "applications",
    "system",
    "library",
    "windows",
];

/// What was found: the first refusal, and doubts.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) refusal: Option<Reason>,
    pub(super) doubts: Vec<Doubt>,
}

/// Looks for destruction in a command line.
pub(super) fn find(facts: &Facts, patterns: &DenyPatterns, place: Place<'_>) -> Findings {
    let mut findings = Findings::default();
    for command in &facts.commands {
        let plain = lower_case(command);
        if let Some(pattern) = patterns
            .commands
            .iter()
            .find(|pattern| line_matches(pattern, &plain))
        {
            findings.refuse(&command.line(), pattern);
        } else if patterns
            .commands
            .iter()
            .any(|pattern| is_open(&command.line()) && may_match(pattern, &plain))
        {
            findings.doubts.push(Doubt::ComputedCommand(command.line()));
        }
        if patterns.judge_effects {
            judge(command, place, &mut findings);
        }
    }
    if patterns.judge_effects {
        for bomb in &facts.bombs {
            findings.refuse(&format!("{bomb}()"), "fork bomb");
        }
        for path in facts.writes.iter().filter(|path| is_device(path)) {
            findings.refuse(path, "write to a device");
        }
    }
    findings
}

/// The command as a program would take it that ignores case, as those of the list do elsewhere.
fn lower_case(command: &Invocation) -> Invocation {
    Invocation {
        words: command
            .words
            .iter()
            .map(|word| word.to_lowercase())
            .collect(),
        ..command.clone()
    }
}

/// A name that is wholly unknown is a doubt already; here only the words behind a known name matter.
fn may_match(pattern: &str, command: &Invocation) -> bool {
    !is_open(&command.words[0]) && line_may_match(pattern, command)
}

impl Findings {
    fn refuse(&mut self, command: &str, pattern: &str) {
        self.refusal
            .get_or_insert_with(|| Reason::DangerousCommand {
                command: super::glob::shown(command),
                pattern: pattern.to_owned(),
            });
    }
}

fn judge(command: &Invocation, place: Place<'_>, findings: &mut Findings) {
    let name = command.name();
    let arguments = command.arguments();
    let targets: Vec<&String> = match name.as_str() {
        "rm" | "grm" if has_flag(arguments, "rR", "--recursive") => plain(arguments).collect(),
        "chmod" | "chown" | "chgrp" | "setfacl" if has_flag(arguments, "R", "--recursive") => {
            plain(arguments).skip(1).collect()
        }
        "mv" => plain(arguments).rev().skip(1).collect(),
        "find" if deletes(arguments) => find_roots(arguments),
        "rsync" if arguments.iter().any(|word| word.starts_with("--delete")) => {
            plain(arguments).next_back().into_iter().collect()
        }
        "remove-item" | "rimraf" | "trash" | "srm" => plain(arguments).collect(),
        "fdisk" | "sfdisk" | "cfdisk" | "gdisk" | "sgdisk" | "parted" | "cryptsetup" | "hdparm"
        | "badblocks" => {
            return partition(command, findings);
        }
        "systemctl" | "loginctl" => return power(command, findings),
        "kill" if arguments.len() > 1 && arguments.last().is_some_and(|word| word == "-1") => {
            return findings.refuse(&command.line(), "kill of every process");
        }
        _ => return,
    };
    for target in targets {
        match weigh(target, command.cwd.as_deref(), place) {
            Weight::System => findings.refuse(
                &command.line(),
                &format!("{name} of a system or home folder"),
            ),
            // A file that is moved can be moved back.
            Weight::Unknown if name == "mv" => {}
            Weight::Unknown => findings.doubts.push(Doubt::UnknownTarget(command.line())),
            Weight::Ordinary => {}
        }
    }
}

fn power(command: &Invocation, findings: &mut Findings) {
    let verbs = [
        "poweroff",
        "reboot",
        "halt",
        "kexec",
        "rescue",
        "emergency",
        "suspend",
        "hibernate",
    ];
    if plain(command.arguments()).any(|word| verbs.contains(&word.as_str())) {
        findings.refuse(&command.line(), "systemctl of the whole machine");
    }
}

/// Tools that change disks, unless they only list what is there.
fn partition(command: &Invocation, findings: &mut Findings) {
    let shows = [
        "-l", "--list", "-p", "--print", "print", "-i", "-I", "status", "--info", "luksDump",
    ];
    let arguments = command.arguments();
    let only_shows = arguments.iter().any(|word| shows.contains(&word.as_str()));
    if !only_shows && arguments.iter().any(|word| is_device(word)) {
        findings.refuse(&command.line(), "change of a disk");
    }
}

fn deletes(arguments: &[String]) -> bool {
    let removes = |pair: &[String]| {
        pair[0].starts_with("-exec")
            && ["rm", "unlink", "shred"]
                .iter()
                .any(|name| pair[1].ends_with(name))
    };
    arguments.iter().any(|word| word == "-delete") || arguments.windows(2).any(removes)
}

fn find_roots(arguments: &[String]) -> Vec<&String> {
    let is_switch = |word: &&String| ["-H", "-L", "-P"].contains(&word.as_str());
    arguments
        .iter()
        .skip_while(is_switch)
        .take_while(|word| !word.starts_with('-'))
        .collect()
}

fn plain(arguments: &[String]) -> impl DoubleEndedIterator<Item = &String> {
    arguments.iter().filter(|word| !word.starts_with('-'))
}

/// Whether one of the letters is among the short options, or the long one is there, also shortened.
fn has_flag(arguments: &[String], letters: &str, long: &str) -> bool {
    arguments.iter().any(|word| {
        let is_long = word.starts_with("--") && word.len() > 3 && long.starts_with(word.as_str());
        let is_short = word.starts_with('-')
            && !word.starts_with("--")
            && word.contains(|letter| letters.contains(letter));
        is_long || is_short
    })
}

#[derive(Debug, PartialEq, Eq)]
enum Weight {
    Ordinary,
    System,
    Unknown,
}

/// What it would mean to lose the target.
fn weigh(target: &str, cwd: Option<&str>, place: Place<'_>) -> Weight {
    let is_relative = !target.starts_with(['/', '~', ANY]);
    let Some(base) = cwd.or((!is_relative).then_some("/")) else {
        return Weight::Unknown;
    };
    let path = absolute(target, base, place.home);
    // What is taken away of a linked folder is taken from where the link leads; of the link alone, only the link.
    let path = if is_open(&path) {
        fold(&place.real(&path).unwrap_or(path))
    } else {
        fold(&path)
    };
    let holds_our_data = place
        .data_folder
        .is_some_and(|folder| is_within(&fold(folder), &path));
    if holds_our_data {
        return Weight::System;
    }
    let home = place.home.map(fold);
    if path.starts_with(ANY) || base.starts_with(ANY) {
        return Weight::Unknown;
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    // Everything in a folder is as good as the folder.
    let is_all = |part: &&str| {
        part.chars()
            .all(|symbol| matches!(symbol, ANY | STAR | '.'))
    };
    let whole = match parts.as_slice() {
        [before @ .., last] if is_all(last) => before,
        all => all,
    };
    if home.is_some_and(|home| whole.join("/") == home.trim_matches('/')) {
        return Weight::System;
    }
    match whole {
        [] | ["home" | "users" | "usr", _] => Weight::System,
        [first] if SYSTEM.contains(first) || first.starts_with('~') => Weight::System,
        [first, ..] if is_open(first) => Weight::System,
        _ if path.contains(ANY) => Weight::Unknown,
        _ => Weight::Ordinary,
    }
}

/// Whether a path is a disk or memory as a whole, or the kernel's emergency switch.
fn is_device(path: &str) -> bool {
    if path == "/proc/sysrq-trigger" {
        return true;
    }
    let Some(name) = path.strip_prefix("/dev/") else {
        return false;
    };
    [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mem", "kmem", "port", "md",
        "dm-", "mapper/", "loop",
    ]
    .iter()
    .any(|prefix| name.starts_with(prefix))
}
