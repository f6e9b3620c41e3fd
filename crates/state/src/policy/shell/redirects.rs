//! Where commands read from and write to: redirections and here-documents.
//!
//! A file that is written is a fact; what is read decides later whether a shell's script is known.

use brush_parser::ast::{IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, RedirectList};

use super::walk::{Input, Walker};
use crate::policy::{glob, reason::Doubt};

impl Walker<'_> {
    pub(super) fn redirects(&mut self, list: Option<&RedirectList>) {
        for redirect in list.iter().flat_map(|list| &list.0) {
            self.redirect(redirect);
        }
    }

    pub(super) fn redirect(&mut self, redirect: &IoRedirect) {
        match redirect {
            IoRedirect::File(_, kind, IoFileRedirectTarget::Filename(word)) => {
                let target = self.word(&word.value);
                if matches!(
                    kind,
                    IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput
                ) {
                    self.input = Input::Unknown;
                    self.mention(&target);
                } else {
                    self.write_by_redirect(&target);
                }
            }
            IoRedirect::File(_, kind, IoFileRedirectTarget::Fd(_)) => self.note_input(kind),
            IoRedirect::File(_, _, IoFileRedirectTarget::ProcessSubstitution(_, subshell)) => {
                self.input = Input::Unknown;
                self.fed_subshell(subshell);
            }
            IoRedirect::File(_, kind, IoFileRedirectTarget::Duplicate(word)) => {
                // `>&file` writes the file; `>&2` and `>&-` do not.
                let target = self.word(&word.value);
                self.note_input(kind);
                let is_descriptor = target
                    .trim_end_matches('-')
                    .chars()
                    .all(|digit| digit.is_ascii_digit());
                if !is_descriptor && matches!(kind, IoFileRedirectKind::DuplicateOutput) {
                    self.write_by_redirect(&target);
                }
            }
            IoRedirect::HereDocument(_, document) => {
                let text = if document.requires_expansion {
                    self.document(&document.doc.value)
                } else {
                    document.doc.value.clone()
                };
                self.take_input(text);
            }
            IoRedirect::HereString(_, word) => {
                let text = self.word(&word.value);
                self.take_input(text);
            }
            IoRedirect::OutputAndError(word, _) => {
                let target = self.word(&word.value);
                self.write_by_redirect(&target);
            }
        }
    }

    /// `<&3` reads from a file that was opened elsewhere.
    fn note_input(&mut self, kind: &IoFileRedirectKind) {
        if matches!(
            kind,
            IoFileRedirectKind::DuplicateInput | IoFileRedirectKind::ReadAndWrite
        ) {
            self.input = Input::Unknown;
        }
    }

    fn take_input(&mut self, text: String) {
        self.input = if glob::is_open(&text) {
            Input::Unknown
        } else {
            Input::Text(text)
        };
    }

    fn write_by_redirect(&mut self, target: &str) {
        let is_harmless = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"].contains(&target);
        if is_harmless {
            return;
        }
        if target.starts_with("/dev/tcp/") || target.starts_with("/dev/udp/") {
            self.doubt(Doubt::Exposure(target.to_owned()));
        }
        let path = self.locate(target);
        self.facts.redirected.push(path.clone());
        self.facts.writes.push(path);
        self.facts.writes.extend(self.climb(target));
    }
}
