//! Tables about programs, and how to skip their options.
//!
//! Plain data and small functions on words; the walker decides what to do with them.

/// Shells that take a script by `-c` or on their input.
pub(super) const SHELLS: [&str; 9] = [
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "su-exec",
];

/// Shells with a grammar of their own: their scripts are foreign to us.
pub(super) const FOREIGN_SHELLS: [&str; 9] = [
    "fish",
    "pwsh",
    "powershell",
    "csh",
    "tcsh",
    "nu",
    "elvish",
    "xonsh",
    "cmd",
];

/// Programs that run another one, with the options that take a value and the number of words before the command.
pub(super) const WRAPPERS: [(&str, &str, usize); 44] = [
    ("nohup", "", 0),
    ("time", "fo", 0),
    ("gtime", "fo", 0),
    ("builtin", "", 0),
    ("nice", "n", 0),
    ("ionice", "cnpPu", 0),
    ("timeout", "ks", 1),
    ("gtimeout", "ks", 1),
    ("stdbuf", "ioe", 0),
    ("setsid", "", 0),
    ("chrt", "TPD", 1),
    ("taskset", "", 1),
    ("unshare", "SGRw", 0),
    ("nsenter", "tSGrw", 0),
    ("chroot", "", 1),
    ("strace", "oepsPuEabIOSX", 0),
    ("ltrace", "oepsuaAFnlwx", 0),
    ("busybox", "", 0),
    ("toybox", "", 0),
    ("firejail", "", 0),
    ("caffeinate", "tw", 0),
    ("unbuffer", "", 0),
    ("xvfb-run", "nsefp", 0),
    ("fakeroot", "lsib", 0),
    ("eatmydata", "", 0),
    ("catchsegv", "", 0),
    ("torsocks", "", 0),
    ("proxychains", "f", 0),
    ("proxychains4", "f", 0),
    ("rlwrap", "", 0),
    ("dbus-run-session", "", 0),
    ("systemd-inhibit", "", 0),
    ("sudo", "ughpCrtTUDR", 0),
    ("doas", "uC", 0),
    ("pkexec", "", 0),
    ("setpriv", "", 0),
    ("prlimit", "", 0),
    ("npx", "p", 0),
    ("winpty", "", 0),
    ("xargs", "IadEeLlnPs", 0),
    // Words of zsh in front of a command.
    ("noglob", "", 0),
    ("nocorrect", "", 0),
    ("-", "", 0),
    ("repeat", "", 1),
];

/// Programs that print, list or test what they are given and read no file.
pub(super) const PRINTERS: [&str; 17] = [
    "echo", "printf", "ls", "dir", "test", "[", "stat", "which", "type", "man", "basename",
    "dirname", "true", "false", ":", "cd", "mkdir",
];

/// Programs whose first plain word is a pattern or a program, not a file.
pub(super) const SEARCHERS: [&str; 12] = [
    "grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "gsed", "awk", "gawk", "mawk", "jq",
];

/// Interpreters and the options behind which code stands.
pub(super) const INTERPRETERS: [(&str, &[&str]); 20] = [
    ("python", &["-c"]),
    ("python2", &["-c"]),
    ("python3", &["-c"]),
    ("pypy", &["-c"]),
    ("pypy3", &["-c"]),
    ("perl", &["-e", "-E", "-n", "-p"]),
    ("ruby", &["-e"]),
    ("node", &["-e", "-p", "--eval", "--print"]),
    ("nodejs", &["-e", "-p", "--eval", "--print"]),
    ("bun", &["-e", "--eval"]),
    ("deno", &["eval"]),
    ("php", &["-r", "-R", "-B", "-E"]),
    ("lua", &["-e"]),
    ("luajit", &["-e"]),
    ("tclsh", &[]),
    ("rscript", &["-e"]),
    ("osascript", &["-e"]),
    ("groovy", &["-e"]),
    ("julia", &["-e"]),
    ("guile", &["-c"]),
];

const CHANGES_PROGRAMS: [&str; 36] = [
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "CDPATH",
    "GLOBIGNORE",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "PAGER",
    "MANPAGER",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "LESS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "NODE_OPTIONS",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONINSPECT",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "HOME",
];

const WELL_KNOWN: [&str; 33] = [
    "ls", "cat", "cd", "echo", "printf", "test", "rm", "cp", "mv", "git", "grep", "find", "sed",
    "awk", "npm", "node", "cargo", "make", "python", "python3", "true", "false", "pwd", "mkdir",
    "touch", "export", "source", "eval", "exec", "command", "builtin", "sudo", "set",
];

/// Whether a variable decides which program runs, or what a program loads.
pub(super) fn changes_programs(name: &str) -> bool {
    CHANGES_PROGRAMS.contains(&name)
        || (name.starts_with("GIT_")
            && !name.starts_with("GIT_AUTHOR")
            && !name.starts_with("GIT_COMMITTER"))
}

/// Whether a function of this name would pass for a program that everybody knows.
pub(super) fn is_well_known(name: &str) -> bool {
    WELL_KNOWN.contains(&name)
}

/// What stands behind the options: those in `valued` take the next word unless their value is joined to them.
pub(super) fn behind_options<'w>(words: &'w [String], valued: &str) -> &'w [String] {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word == "--" {
            return &words[at + 1..];
        }
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            break;
        };
        at += 1;
        // Only the last letter of a bundle can take the next word, and only if no value is joined to it.
        let first_valued = letters
            .char_indices()
            .find(|(_, letter)| valued.contains(*letter));
        let takes_next = !letters.starts_with('-')
            && first_valued
                .is_some_and(|(index, letter)| index + letter.len_utf8() == letters.len());
        at += usize::from(takes_next);
    }
    words.get(at..).unwrap_or(&[])
}

/// The words behind git's own options, which stand before its subcommand.
pub(super) fn behind_git_options(words: &[String]) -> &[String] {
    let valued = [
        "-C",
        "-c",
        "--git-dir",
        "--work-tree",
        "--namespace",
        "--exec-path",
        "--config-env",
        "--super-prefix",
    ];
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        at += 1 + usize::from(valued.contains(&word.as_str()));
    }
    words.get(at..).unwrap_or(&[])
}

/// Whether a word is `NAME=value`.
pub(super) fn assigned_name(word: &str) -> Option<&str> {
    let (name, _) = word.split_once('=')?;
    let is_name = |symbol: char| symbol.is_ascii_alphanumeric() || symbol == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}
