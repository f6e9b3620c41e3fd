//! What a shell word stands for: its text after quoting and expansion, unknown parts marked.
//!
//! Commands inside the word (substitutions) are walked like any others. Variables have a value only when the line sets
//! them once, plainly, before; everything else about them is unknown.

use brush_parser::word::{
    Parameter, ParameterExpr, ParameterTransformOp, TildeExpr, WordPiece, WordPieceWithSource,
};

use super::{ansi, parse, walk::Walker};
use crate::policy::{
    glob::{ANY, STAR},
    reason::Doubt,
};

/// Whether zsh would run code for a word that other shells take for a pattern or refuse: `*(e:'code':)`, `*(+name)`,
/// `${(e)variable}`.
fn runs_in_zsh(raw: &str) -> bool {
    let plain = raw.split(['\'', '"', '\\']).next().unwrap_or(raw);
    let qualified = ["*(e", "*(+", "*(#q", "/(e", "/(+", "/(#q"];
    let is_code = |begin: &&str| {
        let behind = plain.split_once(*begin).map(|(_, behind)| behind);
        // What delimits the code is no letter; a choice of names, as other shells have it, goes on with one.
        behind.is_some_and(|behind| {
            !begin.ends_with('e') || !behind.starts_with(char::is_alphanumeric)
        })
    };
    let is_literal = raw.starts_with('\'') && raw.matches('\'').count() == 2;
    qualified.iter().any(is_code) || (!is_literal && raw.contains("${("))
}

impl Walker<'_> {
    /// The text of a word of a command.
    pub(super) fn word(&mut self, raw: &str) -> String {
        if is_descriptor_name(raw) {
            self.doubt(Doubt::Unparsable(format!("{raw} may name a descriptor")));
        }
        if runs_in_zsh(raw) {
            self.doubt(Doubt::ComputedCommand(raw.to_owned()));
        }
        self.text(raw, false)
    }

    /// The text of a here-document in which expansions happen.
    pub(super) fn document(&mut self, raw: &str) -> String {
        self.text(raw, true)
    }

    fn text(&mut self, raw: &str, is_document: bool) -> String {
        match parse::word(raw, is_document) {
            Ok(pieces) => {
                let mut text = String::new();
                for piece in &pieces {
                    self.piece(raw, piece, is_document, &mut text);
                }
                text
            }
            Err(doubt) => {
                self.doubt(doubt);
                ANY.to_string()
            }
        }
    }

    fn piece(
        &mut self,
        raw: &str,
        piece: &WordPieceWithSource,
        is_quoted: bool,
        text: &mut String,
    ) {
        match &piece.piece {
            WordPiece::Text(plain) if is_quoted => text.push_str(plain),
            WordPiece::Text(plain) => text.push_str(&unquoted(plain)),
            WordPiece::SingleQuotedText(plain) => text.push_str(plain),
            WordPiece::AnsiCQuotedText(escaped) => text.push_str(&ansi::decode(escaped)),
            WordPiece::DoubleQuotedSequence(pieces)
            | WordPiece::GettextDoubleQuotedSequence(pieces) => {
                for inner in pieces {
                    self.piece(raw, inner, true, text);
                }
            }
            WordPiece::TildeExpansion(TildeExpr::Home) => text.push_str(&self.home()),
            WordPiece::TildeExpansion(TildeExpr::UserHome(user)) => {
                text.push('~');
                text.push_str(user);
            }
            WordPiece::TildeExpansion(_) => text.push(ANY),
            WordPiece::ParameterExpansion(expression) => {
                let source = raw.get(piece.start_index..piece.end_index).unwrap_or(raw);
                let value = self.parameter(source, expression);
                text.push_str(&value);
            }
            WordPiece::CommandSubstitution(script) => {
                self.substitution(script);
                text.push(ANY);
            }
            WordPiece::BackquotedCommandSubstitution(script) => {
                self.substitution(&script.replace("\\`", "`"));
                text.push(ANY);
            }
            WordPiece::EscapeSequence(escaped) => {
                let plain = escaped.strip_prefix('\\').unwrap_or(escaped);
                text.push_str(if plain == "\n" { "" } else { plain });
            }
            WordPiece::ArithmeticExpression(expression) => {
                self.arithmetic(&expression.value);
                text.push(STAR);
            }
        }
    }

    fn substitution(&mut self, script: &str) {
        self.substitutions += 1;
        self.nested_script(script);
        self.substitutions -= 1;
    }

    /// Evaluating `a[$(x)]` runs x, so an index or a substitution inside makes the expression code.
    pub(super) fn arithmetic(&mut self, expression: &str) {
        if expression.contains(['[', '`']) || expression.contains("$(") {
            self.doubt(Doubt::ForeignCode(expression.to_owned()));
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "every further kind of expansion, also one of a later grammar, is unknown to us alike"
    )]
    fn parameter(&mut self, source: &str, expression: &ParameterExpr) -> String {
        match expression {
            ParameterExpr::Parameter {
                parameter: Parameter::Named(name),
                indirect: false,
            } => self.variable(name),
            ParameterExpr::UseDefaultValues {
                default_value: Some(inner),
                ..
            }
            | ParameterExpr::AssignDefaultValues {
                default_value: Some(inner),
                ..
            }
            | ParameterExpr::UseAlternativeValue {
                alternative_value: Some(inner),
                ..
            }
            | ParameterExpr::IndicateErrorIfNullOrUnset {
                error_message: Some(inner),
                ..
            } => {
                // The text may be used or not; what it names is looked at, what it runs is walked.
                if let Some(value) = self.deeper(|walker| walker.word(inner)) {
                    self.mention(&value);
                }
                ANY.to_string()
            }
            other => {
                let is_prompt = matches!(
                    other,
                    ParameterExpr::Transform {
                        op: ParameterTransformOp::PromptExpand,
                        ..
                    }
                );
                if is_prompt || source.contains('`') || source.contains("$(") {
                    self.doubt(Doubt::ForeignCode(source.to_owned()));
                }
                ANY.to_string()
            }
        }
    }
}

/// `{name}>file` opens a descriptor in bash; the grammar takes `{name}` for a word, or even for the command.
fn is_descriptor_name(raw: &str) -> bool {
    let name = raw
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| {
        !name.is_empty()
            && name
                .chars()
                .all(|symbol| symbol.is_ascii_alphanumeric() || symbol == '_')
    })
}

/// Unquoted text: wildcards and braces stand for something else.
fn unquoted(plain: &str) -> String {
    let mut text = String::with_capacity(plain.len());
    let mut rest = plain;
    while let Some(symbol) = rest.chars().next() {
        let length = match symbol {
            '{' => brace_length(rest),
            '[' => rest.find(']').map(|end| end + 1),
            '*' | '?' => Some(1),
            _ => None,
        };
        if let Some(length) = length {
            text.push(if symbol == '{' { ANY } else { STAR });
            rest = &rest[length..];
        } else {
            text.push(symbol);
            rest = &rest[symbol.len_utf8()..];
        }
    }
    text
}

/// The length of a brace expression at the beginning of the text, if there is one.
fn brace_length(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, symbol) in text.char_indices() {
        match symbol {
            '{' => depth += 1,
            '}' if depth == 1 => {
                let inside = &text[1..at];
                return (inside.contains(',') || inside.contains("..")).then_some(at + 1);
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    // The brace may be closed behind a quoted part, which is another piece of the word.
    text.contains(',').then_some(text.len())
}
