//! Walks the tree of a script and collects the facts.
//!
//! Both branches of every condition are walked, loops once. What runs in which folder and which variable has which value
//! is followed only along the plain sequence of the line; anywhere else it becomes unknown.

use std::collections::BTreeMap;

use brush_parser::ast::{
    AndOr, AndOrList, Assignment, AssignmentName, AssignmentValue, Command,
    CommandPrefixOrSuffixItem, CompoundList, FunctionDefinition, Pipeline, SimpleCommand,
    SubshellCommand,
};

use super::{Facts, Invocation, known, options, parse};
use crate::policy::{
    glob::ANY,
    paths::{LONGEST, Place, absolute},
    reason::Doubt,
};

/// How deep scripts may stand in scripts (`sh -c "sh -c …"`, substitutions in substitutions).
const DEEPEST_SCRIPT: usize = 12;
/// How many commands are looked at; a line with more is not judged.
const MOST_COMMANDS: usize = 2000;

/// What a command reads from when it reads its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// The terminal or nothing.
    Inherited,
    /// Another command or a file.
    Unknown,
    /// A here-document or here-string that is wholly known.
    Text(String),
}

/// Collects the facts about one line.
#[derive(Debug)]
pub(super) struct Walker<'a> {
    pub(super) place: Place<'a>,
    pub(super) facts: Facts,
    pub(super) cwd: Option<String>,
    source: &'a str,
    variables: BTreeMap<String, String>,
    functions: Vec<String>,
    /// How far we are from the plain sequence of the line.
    aside: usize,
    depth: usize,
    /// How many substitutions we are in: what is printed there becomes words of a command.
    pub(super) substitutions: usize,
    pub(super) input: Input,
}

impl<'a> Walker<'a> {
    pub(super) fn new(place: Place<'a>, source: &'a str) -> Self {
        Self {
            place,
            facts: Facts::default(),
            cwd: Some(place.cwd.to_owned()),
            source,
            variables: BTreeMap::new(),
            functions: Vec::new(),
            aside: 0,
            depth: 0,
            substitutions: 0,
            input: Input::Inherited,
        }
    }

    pub(super) fn into_facts(self) -> Facts {
        self.facts
    }

    pub(super) fn doubt(&mut self, doubt: Doubt) {
        if self.facts.doubts.len() < 16 {
            self.facts.doubts.push(doubt);
        }
    }

    /// Walks a script in the current shell.
    pub(super) fn script(&mut self, text: &str) {
        if self.depth >= DEEPEST_SCRIPT || self.facts.commands.len() > MOST_COMMANDS {
            return self.doubt(Doubt::TooComplex);
        }
        match parse::program(text) {
            Ok(program) => {
                self.depth += 1;
                for list in &program.complete_commands {
                    self.list(list);
                }
                self.depth -= 1;
            }
            Err(doubt) => self.doubt(doubt),
        }
    }

    /// Does something one level deeper, unless that is too deep.
    pub(super) fn deeper<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= DEEPEST_SCRIPT {
            self.doubt(Doubt::TooComplex);
            return None;
        }
        self.depth += 1;
        let outcome = walk(self);
        self.depth -= 1;
        Some(outcome)
    }

    /// Walks a script that runs in a shell of its own.
    pub(super) fn nested_script(&mut self, text: &str) {
        self.apart(|walker| walker.script(text));
    }

    /// Does something whose effects on folder and variables end with it.
    pub(super) fn apart(&mut self, walk: impl FnOnce(&mut Self)) {
        let (cwd, input) = (self.cwd.clone(), self.input.clone());
        self.aside += 1;
        walk(self);
        self.aside -= 1;
        (self.cwd, self.input) = (cwd, input);
    }

    /// Does something of which it is not known whether it happens.
    pub(super) fn perhaps(&mut self, walk: impl FnOnce(&mut Self)) {
        let cwd = self.cwd.clone();
        self.aside += 1;
        walk(self);
        self.aside -= 1;
        if self.cwd != cwd {
            self.cwd = None;
        }
    }

    pub(super) fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            self.and_or(&item.0);
        }
    }

    fn and_or(&mut self, list: &AndOrList) {
        self.pipeline(&list.first);
        for next in &list.additional {
            match next {
                // What stands behind `&&` runs only after success, so a change of folder before it holds.
                AndOr::And(pipeline) => {
                    self.aside += 1;
                    self.pipeline(pipeline);
                    self.aside -= 1;
                }
                AndOr::Or(pipeline) => self.perhaps(|walker| walker.pipeline(pipeline)),
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        if let [only] = pipeline.seq.as_slice() {
            return self.command(only);
        }
        for (at, command) in pipeline.seq.iter().enumerate() {
            self.apart(|walker| {
                if at > 0 {
                    walker.input = Input::Unknown;
                }
                walker.command(command);
            });
        }
    }

    pub(super) fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                let saved = self.input.clone();
                self.redirects(redirects.as_ref());
                self.compound(compound);
                self.input = saved;
            }
            Command::Function(definition) => self.function(definition),
            Command::ExtendedTest(test, redirects) => {
                let saved = self.input.clone();
                self.redirects(redirects.as_ref());
                self.test(&test.expr);
                self.input = saved;
            }
        }
    }

    pub(super) fn subshell(&mut self, subshell: &SubshellCommand) {
        self.apart(|walker| walker.list(&subshell.list));
    }

    /// A subshell that may read what the command around it writes.
    pub(super) fn fed_subshell(&mut self, subshell: &SubshellCommand) {
        self.apart(|walker| {
            walker.input = Input::Unknown;
            walker.list(&subshell.list);
        });
    }

    /// The body is walked where it is defined. One that starts itself twice over is a fork bomb; one with the name of a
    /// program hides what later words mean.
    fn function(&mut self, definition: &FunctionDefinition) {
        let name = definition.fname.value.clone();
        if options::is_well_known(&name) {
            self.facts.changes_names = true;
            self.doubt(Doubt::ComputedCommand(format!("{name}()")));
        }
        let before = self.facts.commands.len();
        self.functions.push(name.clone());
        self.perhaps(|walker| {
            let saved = walker.input.clone();
            walker.redirects(definition.body.1.as_ref());
            walker.compound(&definition.body.0);
            walker.input = saved;
        });
        let itself = self.facts.commands[before..]
            .iter()
            .filter(|command| command.words[0] == name);
        if itself.count() > 1 {
            self.facts.bombs.push(name);
        }
    }

    fn simple(&mut self, command: &SimpleCommand) {
        let saved = self.input.clone();
        let mut words = Vec::new();
        let mut assignments = Vec::new();
        for item in command.prefix.iter().flat_map(|prefix| &prefix.0) {
            self.item(item, &mut words, Some(&mut assignments));
        }
        if let Some(name) = &command.word_or_name {
            let name = self.word(&name.value);
            words.insert(0, name);
        }
        for item in command.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.item(item, &mut words, None);
        }
        if words.is_empty() {
            self.remember(assignments);
        } else {
            self.invoke(words, false);
        }
        self.input = saved;
    }

    fn item(
        &mut self,
        item: &CommandPrefixOrSuffixItem,
        words: &mut Vec<String>,
        assignments: Option<&mut Vec<(String, String)>>,
    ) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect),
            CommandPrefixOrSuffixItem::Word(word) => {
                let text = self.word(&word.value);
                words.push(text);
            }
            CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                let value = self.assignment(assignment);
                if let Some(assignments) = assignments {
                    assignments.extend(value);
                } else {
                    let text = self.word(&word.value);
                    words.push(text);
                }
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => {
                self.fed_subshell(subshell);
                words.push(format!("/dev/fd/{ANY}"));
            }
        }
    }

    /// Walks an assignment; a plain one yields name and value.
    fn assignment(&mut self, assignment: &Assignment) -> Option<(String, String)> {
        let name = match &assignment.name {
            AssignmentName::VariableName(name) => name.clone(),
            AssignmentName::ArrayElementName(name, index) => {
                self.arithmetic(index);
                name.clone()
            }
        };
        self.variable_for(&name);
        match &assignment.value {
            AssignmentValue::Scalar(word) => {
                let value = self.word(&word.value);
                (!assignment.append).then_some((name, value))
            }
            AssignmentValue::Array(elements) => {
                for (index, element) in elements {
                    if let Some(index) = index {
                        self.arithmetic(&index.value);
                    }
                    let text = self.word(&element.value);
                    self.mention(&text);
                }
                None
            }
        }
    }

    /// Keeps values of variables that are set once, in the plain sequence, and nowhere else in the line.
    fn remember(&mut self, assignments: Vec<(String, String)>) {
        for (name, value) in assignments {
            if self.aside == 0 && self.depth == 1 && mentions(self.source, &name) == 1 {
                self.variables.insert(name, value);
            }
        }
    }

    pub(super) fn variable(&self, name: &str) -> String {
        match (name, self.variables.get(name)) {
            (_, Some(value)) => value.clone(),
            ("HOME", None) => self.home(),
            ("PWD", None) => self.cwd.clone().unwrap_or_else(|| ANY.to_string()),
            (_, None) => ANY.to_string(),
        }
    }

    pub(super) fn home(&self) -> String {
        self.place.home.unwrap_or("~").to_owned()
    }

    /// The absolute form of a path named in the line.
    pub(super) fn locate(&self, path: &str) -> String {
        let unknown = ANY.to_string();
        absolute(
            path,
            self.cwd.as_deref().unwrap_or(&unknown),
            self.place.home,
        )
    }

    /// Where a path with `..` in it leads behind links.
    pub(super) fn climb(&self, path: &str) -> Option<String> {
        self.place.climbed(path, self.cwd.as_deref()?)
    }

    /// Notes that a text may be the name of a file that is read.
    pub(super) fn mention(&mut self, text: &str) {
        if text.len() > LONGEST {
            return;
        }
        if self.facts.reads.len() >= 4 * MOST_COMMANDS {
            return self.doubt(Doubt::TooComplex);
        }
        let path = self.locate(text);
        self.facts.reads.push(path);
        self.facts.reads.extend(self.climb(text));
    }

    /// Notes that a file is written.
    pub(super) fn write(&mut self, text: &str) {
        let path = self.locate(text);
        self.facts.writes.push(path);
        self.facts.writes.extend(self.climb(text));
    }

    /// Takes a command with its words apart.
    pub(super) fn invoke(&mut self, words: Vec<String>, is_derived: bool) {
        if self.facts.commands.len() > MOST_COMMANDS || self.depth >= DEEPEST_SCRIPT {
            return self.doubt(Doubt::TooComplex);
        }
        let command = Invocation {
            words,
            cwd: self.cwd.clone(),
            is_derived,
        };
        self.facts.commands.push(command.clone());
        if self.functions.contains(&command.words[0]) {
            return;
        }
        if known(&command.words[0]).is_none() {
            self.doubt(Doubt::ComputedCommand(command.line()));
        }
        self.depth += 1;
        self.fresh_script(&command);
        self.effects(&command);
        let input = self.input.clone();
        self.program(&command, &input);
        self.depth -= 1;
    }
}

/// How often a line names a variable other than to use it.
fn mentions(source: &str, name: &str) -> usize {
    let is_name = |symbol: char| symbol.is_ascii_alphanumeric() || symbol == '_';
    let mut count = 0;
    for (at, _) in source.match_indices(name) {
        let before = &source[..at];
        let after = &source[at + name.len()..];
        let is_whole = !before.ends_with(is_name) && !after.starts_with(is_name);
        let is_use = before.ends_with('$') || (before.ends_with("${") && after.starts_with('}'));
        count += usize::from(is_whole && !is_use);
    }
    count
}
