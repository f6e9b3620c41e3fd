//! Loops, conditions, cases and tests: both branches are walked, loops once.

use brush_parser::ast::{CompoundCommand, ExtendedTestExpr};

use super::walk::Walker;

impl Walker<'_> {
    pub(super) fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(command) => self.arithmetic(&command.expr.value),
            CompoundCommand::ArithmeticForClause(clause) => {
                for part in [&clause.initializer, &clause.condition, &clause.updater]
                    .into_iter()
                    .flatten()
                {
                    self.arithmetic(&part.value);
                }
                self.perhaps(|walker| walker.list(&clause.body.list));
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.subshell(subshell),
            CompoundCommand::ForClause(clause) => {
                for value in clause.values.iter().flatten() {
                    let text = self.word(&value.value);
                    self.mention(&text);
                }
                self.perhaps(|walker| walker.list(&clause.body.list));
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value.value);
                for case in &clause.cases {
                    for pattern in &case.patterns {
                        self.word(&pattern.value);
                    }
                    self.perhaps(|walker| case.cmd.iter().for_each(|list| walker.list(list)));
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.perhaps(|walker| walker.list(&clause.then));
                for branch in clause.elses.iter().flatten() {
                    self.perhaps(|walker| {
                        branch.condition.iter().for_each(|list| walker.list(list));
                        walker.list(&branch.body);
                    });
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.perhaps(|walker| {
                    walker.list(&clause.0);
                    walker.list(&clause.1.list);
                });
            }
            CompoundCommand::Coprocess(process) => {
                self.apart(|walker| walker.command(&process.body));
            }
        }
    }

    pub(super) fn test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left);
                self.test(right);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner);
            }
            ExtendedTestExpr::UnaryTest(_, word) => self.tested(&word.value),
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.tested(&left.value);
                self.tested(&right.value);
            }
        }
    }

    /// `-v`, `-eq` and their like evaluate their words, so an index with a substitution in it runs.
    fn tested(&mut self, word: &str) {
        let text = self.word(word);
        if word.contains("[$") || text.contains("$(") || text.contains('`') {
            self.arithmetic(word);
        }
    }
}
