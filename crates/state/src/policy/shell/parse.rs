//! The way to the shell grammar: limits first, then the tokens, then the tree.
//!
//! The parser is a library (`brush-parser`). It goes back on errors, which costs time that doubles with each open
//! parenthesis, and it descends recursively; so the nesting is counted on its tokens before the grammar sees them. A
//! panic inside it counts as a text that cannot be parsed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::{ParserOptions, Token, ast::Program, word::WordPieceWithSource};

use crate::policy::reason::Doubt;

/// The longest text that is parsed; a here-document with a usual source file fits.
pub(super) const MOST_BYTES: usize = 64 * 1024;
/// How many substitutions a text may hold: the tokenizer descends into each of them.
const MOST_SUBSTITUTIONS: usize = 150;
/// The same for one word, whose grammar needs more stack for each.
const MOST_IN_WORD: usize = 60;
/// How deep subshells may stand in each other.
const DEEPEST_PARENTHESES: usize = 9;
/// How many compound commands a text may open.
const MOST_COMPOUNDS: usize = 80;
/// How many tokens a text may have.
const MOST_TOKENS: usize = 5000;

const OPENERS: [&str; 10] = [
    "!", "if", "while", "until", "for", "case", "select", "{", "function", "coproc",
];

/// The tree of a script, or why there is none.
pub(super) fn program(text: &str) -> Result<Program, Doubt> {
    guard(text, MOST_SUBSTITUTIONS)?;
    let options = ParserOptions::default();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let tokens = brush_parser::uncached_tokenize_str(text, &options.tokenizer_options())
            .map_err(|error| Doubt::Unparsable(error.to_string()))?;
        guard_tokens(&tokens)?;
        brush_parser::parse_tokens(&tokens, &options)
            .map_err(|error| Doubt::Unparsable(error.to_string()))
    }));
    outcome.unwrap_or_else(|_| Err(Doubt::Unparsable("the parser gave up".to_owned())))
}

/// The pieces of a word, or why there are none.
pub(super) fn word(text: &str, is_document: bool) -> Result<Vec<WordPieceWithSource>, Doubt> {
    guard(text, MOST_IN_WORD)?;
    let options = ParserOptions::default();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        if is_document {
            brush_parser::word::parse_heredoc(text, &options)
        } else {
            brush_parser::word::parse(text, &options)
        }
    }));
    match outcome {
        Ok(Ok(pieces)) => Ok(pieces),
        Ok(Err(error)) => Err(Doubt::Unparsable(error.to_string())),
        Err(_) => Err(Doubt::Unparsable("the parser gave up".to_owned())),
    }
}

fn guard(text: &str, most: usize) -> Result<(), Doubt> {
    if text.len() > MOST_BYTES {
        return Err(Doubt::TooComplex);
    }
    let openers = ["$(", "${", "$[", "`", "<(", ">("];
    let substitutions: usize = openers
        .iter()
        .map(|opener| text.matches(opener).count())
        .sum();
    if substitutions > most {
        Err(Doubt::TooComplex)
    } else {
        Ok(())
    }
}

fn guard_tokens(tokens: &[Token]) -> Result<(), Doubt> {
    let (mut depth, mut deepest, mut compounds) = (0_usize, 0, 0);
    for token in tokens {
        match token {
            Token::Operator(text, _) => {
                depth += text.matches('(').count();
                deepest = deepest.max(depth);
                depth = depth.saturating_sub(text.matches(')').count());
            }
            Token::Word(text, _) => compounds += usize::from(OPENERS.contains(&text.as_str())),
        }
    }
    if depth > 0 {
        return Err(Doubt::Unparsable("a parenthesis is not closed".to_owned()));
    }
    if deepest > DEEPEST_PARENTHESES || compounds > MOST_COMPOUNDS || tokens.len() > MOST_TOKENS {
        return Err(Doubt::TooComplex);
    }
    Ok(())
}
