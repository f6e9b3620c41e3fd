//! What known programs do with their words: run other commands, take scripts, or run code we cannot judge.
//!
//! A wrapper is taken off and the command behind it is looked at like any other; a script is parsed and walked. For the
//! rest there are doubts: an option that makes a harmless program start another one is the usual way around a guard.

use super::{
    Invocation, base_name, known,
    options::{self, FOREIGN_SHELLS, INTERPRETERS, SHELLS, WRAPPERS, behind_options},
    walk::{Input, Walker},
};
use crate::policy::{glob::ANY, reason::Doubt};

/// Programs that start something later or elsewhere.
const LATER: [&str; 8] = [
    "at",
    "batch",
    "crontab",
    "systemd-run",
    "parallel",
    "bwrap",
    "entr",
    "expect",
];

/// Programs that open the machine to others.
const TUNNELS: [&str; 10] = [
    "ngrok",
    "cloudflared",
    "localtunnel",
    "lt",
    "bore",
    "frpc",
    "chisel",
    "socat",
    "telnet",
    "serveo",
];

impl Walker<'_> {
    /// A file that the same line writes is a script nobody has seen.
    pub(super) fn fresh_script(&mut self, command: &Invocation) {
        let name = command.name();
        let takes_file = SHELLS.contains(&name.as_str())
            || matches!(
                name.as_str(),
                "source" | "." | "sudo" | "env" | "nohup" | "time" | "make"
            )
            || INTERPRETERS
                .iter()
                .any(|(interpreter, _)| is_version_of(&name, interpreter));
        let count = if takes_file { command.words.len() } else { 1 };
        let is_fresh = command.words[..count].iter().any(|word| {
            let path = self.locate(word);
            (word.contains('/') || takes_file) && self.facts.writes.contains(&path)
        });
        if is_fresh {
            self.doubt(Doubt::ForeignCode(command.line()));
        }
    }

    /// Looks behind the name of a command.
    pub(super) fn program(&mut self, command: &Invocation, input: &Input) {
        let name = command.name();
        let name = name.as_str();
        let arguments = command.arguments();
        if matches!(name, "npx" | "npm" | "pnpm" | "yarn" | "bun" | "bunx") {
            self.package_runner(command);
        }
        if let Some((_, valued, words)) = WRAPPERS.iter().find(|(wrapper, ..)| *wrapper == name) {
            return self.wrapper(command, valued, *words);
        }
        match name {
            "cd" | "pushd" => self.change_folder(arguments),
            "popd" => self.cwd = None,
            "env" => self.environment(command),
            "export" | "declare" | "typeset" | "readonly" | "local" | "set" => {
                self.declaration(command);
            }
            "command" | "exec" => self.replacement(command),
            "eval" => self.code(command, Some(&arguments.join(" "))),
            "trap" => self.code(
                command,
                behind_options(arguments, "").first().map(String::as_str),
            ),
            "alias" => self.alias(arguments),
            "su" | "runuser" | "script" | "flock" => self.command_option(command),
            "watch" => self.code(command, Some(&behind_options(arguments, "ndq").join(" "))),
            "ssh" => self.remote(command),
            "source" | "." => self.source(command, input),
            "find" | "gfind" => self.find(command),
            "git" => self.git(command),
            "printenv" | "nc" | "ncat" | "netcat" => self.doubt(Doubt::Exposure(command.line())),
            "ps" => self.processes(command),
            "dig" | "nslookup" | "host" | "ping" => self.lookup(command),
            "curl" | "wget" => self.transfer(command),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(command),
            "sed" | "gsed" => self.sed(command),
            "test" | "[" | "printf" | "read" | "unset" | "let" | "wait" | "mapfile"
            | "readarray" => self.evaluating(command),
            "hash" | "enable" | "complete" | "compgen" | "bind" => self.rebinding(command),
            _ if SHELLS.contains(&name) => self.shell(command, input),
            _ => self.other(command, name, input),
        }
        self.indirect(command, name);
        self.search(command, name);
        self.unseen(command, name);
        self.listed(command, name);
    }

    fn wrapper(&mut self, command: &Invocation, valued: &str, words: usize) {
        let arguments = command.arguments();
        let rest = behind_options(arguments, valued);
        let skipped = &arguments[..arguments.len() - rest.len()];
        let is_unsure = skipped
            .iter()
            .any(|word| word.starts_with("--") && word != "--" && !word.contains('='));
        let mut rest = rest.get(words..).unwrap_or(&[]);
        if is_unsure {
            // A long option may take the next word, so the command may begin one word later.
            rest.get(1..)
                .filter(|later| !later.is_empty())
                .map(<[String]>::to_vec)
                .into_iter()
                .for_each(|later| self.invoke(later, true));
        }
        while let Some(name) = rest.first().and_then(|word| options::assigned_name(word)) {
            self.variable_for(name);
            rest = &rest[1..];
        }
        if rest.is_empty() {
            return;
        }
        let mut inner = rest.to_vec();
        if command.name() == "xargs" {
            // What comes in becomes further words; `{}` stands for it wherever it is.
            inner.push(ANY.to_string());
            inner = inner
                .iter()
                .map(|word| word.replace("{}", &ANY.to_string()))
                .collect();
        }
        self.invoke(inner, true);
    }

    /// Looks at the name of a variable that is set.
    pub(super) fn variable_for(&mut self, name: &str) {
        if options::changes_programs(name) {
            self.facts.changes_names = true;
            self.doubt(Doubt::Indirection(format!("{name}=")));
        }
    }

    fn change_folder(&mut self, arguments: &[String]) {
        let target = behind_options(arguments, "")
            .first()
            .cloned()
            .unwrap_or_else(|| self.home());
        self.cwd = known(&target)
            .filter(|target| *target != "-")
            .map(|target| self.locate(target));
    }

    fn environment(&mut self, command: &Invocation) {
        let arguments = command.arguments();
        for (at, word) in arguments.iter().enumerate() {
            let joined = word
                .strip_prefix("-S")
                .or_else(|| word.strip_prefix("--split-string="));
            let script = match joined {
                Some("") => Some(arguments.get(at + 1..).unwrap_or(&[]).join(" ")),
                Some(text) => Some(text.to_owned()),
                None => None,
            };
            if script.is_some() {
                return self.code(command, script.as_deref());
            }
        }
        let rest = behind_options(arguments, "uC");
        let names = rest.iter().map_while(|word| options::assigned_name(word));
        let count = names.clone().count();
        names.for_each(|name| self.variable_for(name));
        match rest.get(count..) {
            Some([]) | None => self.doubt(Doubt::Exposure(command.line())),
            Some(inner) => {
                if arguments
                    .iter()
                    .any(|word| word.starts_with("-C") || word.starts_with("--c"))
                {
                    self.cwd = None;
                }
                self.invoke(inner.to_vec(), true);
            }
        }
    }

    /// Builtins that evaluate the index of an array named in a word, and run what stands in it.
    fn evaluating(&mut self, command: &Invocation) {
        let has_code = |word: &String| word.contains("$(") || word.contains('`');
        let is_callback =
            command.name() != "test" && command.arguments().iter().any(|word| word == "-C");
        if is_callback
            || command
                .arguments()
                .iter()
                .any(|word| word.contains('[') && has_code(word))
        {
            self.doubt(Doubt::ForeignCode(command.line()));
        }
    }

    /// Builtins that give names another meaning.
    fn rebinding(&mut self, command: &Invocation) {
        if command
            .arguments()
            .iter()
            .any(|word| ["-p", "-f", "-C", "-F", "-x"].contains(&word.as_str()))
        {
            self.facts.changes_names = true;
            self.doubt(Doubt::Indirection(command.line()));
        }
    }

    fn declaration(&mut self, command: &Invocation) {
        self.evaluating(command);
        let arguments = command.arguments();
        let names = arguments
            .iter()
            .filter_map(|word| options::assigned_name(word));
        names.for_each(|name| self.variable_for(name));
        if arguments.is_empty() || arguments.iter().all(|word| word == "-p") {
            self.doubt(Doubt::Exposure(command.line()));
        }
    }

    fn replacement(&mut self, command: &Invocation) {
        let arguments = command.arguments();
        let only_looks = arguments
            .first()
            .is_some_and(|word| word == "-v" || word == "-V");
        let rest = behind_options(arguments, "a");
        if !only_looks && !rest.is_empty() {
            self.invoke(rest.to_vec(), true);
        }
    }

    /// Walks a script given as a text, or notes that it is not known.
    fn code(&mut self, command: &Invocation, script: Option<&str>) {
        match script.map(known) {
            Some(Some(script)) => self.derived(script),
            Some(None) => self.doubt(Doubt::ForeignCode(command.line())),
            None => {}
        }
    }

    fn derived(&mut self, script: &str) {
        let before = self.facts.commands.len();
        self.nested_script(script);
        for command in &mut self.facts.commands[before..] {
            command.is_derived = true;
        }
    }

    fn alias(&mut self, arguments: &[String]) {
        for word in arguments {
            if let Some((name, script)) = word.split_once('=') {
                if options::is_well_known(name) || known(script).is_none() {
                    self.facts.changes_names = true;
                    self.doubt(Doubt::ComputedCommand(word.clone()));
                } else {
                    self.derived(script);
                }
            }
        }
    }

    /// Programs that take a command line behind `-c`.
    fn command_option(&mut self, command: &Invocation) {
        let arguments = command.arguments();
        let takes_command = |word: &String| {
            word == "--command"
                || (word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))
        };
        let at = arguments.iter().position(takes_command);
        if let Some(at) = at {
            return self.code(command, arguments.get(at + 1).map(String::as_str));
        }
        if command.name() == "flock"
            && let Some(inner) = behind_options(arguments, "wE")
                .get(1..)
                .filter(|inner| !inner.is_empty())
        {
            self.invoke(inner.to_vec(), true);
        }
    }

    /// `npm exec -- x`, `yarn exec x`, `npx -c 'x'`.
    fn package_runner(&mut self, command: &Invocation) {
        let arguments = command.arguments();
        if let Some(at) = arguments
            .iter()
            .position(|word| word == "-c" || word == "--call")
        {
            self.code(command, arguments.get(at + 1).map(String::as_str));
        }
        let is_exec = |word: &String| ["exec", "x", "dlx"].contains(&word.as_str());
        if arguments.first().is_some_and(is_exec) {
            let inner = behind_options(&arguments[1..], "pc");
            if !inner.is_empty() {
                self.invoke(inner.to_vec(), true);
            }
        }
    }

    fn remote(&mut self, command: &Invocation) {
        let rest = behind_options(command.arguments(), "bcDEeFIiJLlmOopQRSWw");
        if let Some(inner) = rest.get(1..).filter(|inner| !inner.is_empty()) {
            self.code(command, Some(&inner.join(" ")));
        }
    }

    fn source(&mut self, command: &Invocation, input: &Input) {
        let file = command
            .arguments()
            .first()
            .map(String::as_str)
            .unwrap_or_default();
        if file.starts_with("/dev/") || file.starts_with("/proc/") || known(file).is_none() {
            self.take_script(command, input);
        }
    }

    /// A shell: with `-c` the script is a word, without a file it is the input.
    fn shell(&mut self, command: &Invocation, input: &Input) {
        let arguments = command.arguments();
        let takes_command =
            |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('c');
        if let Some(at) = arguments.iter().position(takes_command) {
            let script = behind_options(&arguments[at + 1..], "oO").first();
            return self.code(command, script.map(String::as_str));
        }
        let is_switch = |word: &&String| word.starts_with('-') && *word != "-";
        match arguments.iter().find(|word| !is_switch(word)) {
            Some(file) if file.starts_with("/dev/") || file == "-" || known(file).is_none() => {
                self.take_script(command, input);
            }
            Some(_) if !arguments.iter().any(|word| word == "-s") => {}
            _ => self.take_script(command, input),
        }
    }

    fn take_script(&mut self, command: &Invocation, input: &Input) {
        match input {
            Input::Text(script) => self.derived(&script.clone()),
            Input::Unknown => self.doubt(Doubt::ForeignCode(command.line())),
            Input::Inherited if command.line().contains("/dev/") => {
                self.doubt(Doubt::ForeignCode(command.line()));
            }
            Input::Inherited => {}
        }
    }

    fn find(&mut self, command: &Invocation) {
        let arguments = command.arguments();
        let roots = arguments
            .iter()
            .take_while(|word| !word.starts_with(['-', '(', '!']))
            .cloned();
        let roots: Vec<String> = roots.collect();
        let starts =
            |word: &String| ["-exec", "-execdir", "-ok", "-okdir"].contains(&word.as_str());
        for (at, _) in arguments
            .iter()
            .enumerate()
            .filter(|(_, word)| starts(word))
        {
            let inner = arguments[at + 1..]
                .iter()
                .take_while(|word| *word != ";" && *word != "+");
            let root = roots.first().map_or(".", String::as_str);
            // What is found lies below the root, or is the root itself.
            let found = format!("{}/{ANY}", root.trim_end_matches('/'));
            let inner: Vec<String> = inner.map(|word| word.replace("{}", &found)).collect();
            if !inner.is_empty() {
                self.invoke(inner, true);
            }
        }
    }

    fn other(&mut self, command: &Invocation, name: &str, input: &Input) {
        let arguments = command.arguments();
        let code = INTERPRETERS
            .iter()
            .find(|(interpreter, _)| is_version_of(name, interpreter));
        if let Some((_, options)) = code {
            let takes_code = |word: &String| {
                options.iter().any(|option| {
                    word == option
                        || (!option.starts_with("--") && option.len() == 2 && bundles(word, option))
                })
            };
            let has_file = arguments.iter().any(|word| !word.starts_with('-'));
            let is_server = arguments.iter().any(|word| {
                word.contains("http.server") || word == "SimpleHTTPServer" || word == "-S"
            });
            if arguments.iter().any(takes_code)
                || (!has_file && *input != Input::Inherited)
                || arguments.iter().any(|word| word == "-")
            {
                self.doubt(Doubt::ForeignCode(command.line()));
            }
            if is_server {
                self.doubt(Doubt::Exposure(command.line()));
            }
        }
        if FOREIGN_SHELLS.contains(&name) && (!arguments.is_empty() || *input != Input::Inherited) {
            self.doubt(Doubt::ForeignCode(command.line()));
        }
        if LATER.contains(&name) {
            self.doubt(Doubt::Indirection(command.line()));
        }
        if TUNNELS.contains(&name) {
            self.doubt(Doubt::Exposure(command.line()));
        }
        if matches!(name, "vi" | "view" | "ex" | "vim" | "nvim")
            && arguments.iter().any(|word| word.starts_with('+'))
        {
            self.doubt(Doubt::ForeignCode(command.line()));
        }
        self.embedded_shell(command);
    }

    /// `anything … sh -c script`: whatever the program is, the script is there to be run.
    fn embedded_shell(&mut self, command: &Invocation) {
        let arguments = command.arguments();
        let at = arguments
            .iter()
            .position(|word| SHELLS.contains(&base_name(word).as_str()));
        if let Some(at) = at
            && arguments
                .get(at + 1)
                .is_some_and(|word| word.starts_with('-') && word.contains('c'))
        {
            self.invoke(arguments[at..].to_vec(), true);
        }
    }
}

/// `python3.12` is a `python3`.
fn is_version_of(name: &str, interpreter: &str) -> bool {
    name.strip_prefix(interpreter).is_some_and(|rest| {
        rest.chars()
            .all(|symbol| symbol.is_ascii_digit() || symbol == '.')
    })
}

/// Whether a bundle of short options (`-pe`, `-ne`) holds the one.
fn bundles(word: &str, option: &str) -> bool {
    let letters = word
        .strip_prefix('-')
        .filter(|letters| !letters.starts_with('-'));
    let letter = option.trim_start_matches('-');
    letters.is_some_and(|letters| letters.len() <= 4 && letters.contains(letter))
}
