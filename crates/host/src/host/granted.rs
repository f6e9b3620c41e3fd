//! What people have allowed for conversations: asked of each, for nothing of it is kept beside the logs.

use estelle_proto::ipc::{GetRules, GrantedTool, RuleList};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::time::error::Elapsed;

use super::{Host, ask};
use crate::conversation::Command;
use crate::ipc::{Done, Refusal};

/// What a conversation said of it: nothing if it is gone, an error if it did not answer in time.
type Answer = Result<Option<Vec<GrantedTool>>, Elapsed>;

impl Host {
    /// The rules, a verdict if one is wanted, and what was allowed for conversations.
    pub(super) fn rules_and_grants(
        &self,
        asked: &GetRules,
    ) -> BoxFuture<'static, Result<Done, Refusal>> {
        self.with_grants(self.try_out(asked))
    }

    /// The rules with what was allowed for conversations. Those that are busy are left out, and people are told so.
    pub(super) fn with_grants(&self, mut done: Done) -> BoxFuture<'static, Result<Done, Refusal>> {
        let all = self.all();
        async move {
            let all = all
                .into_iter()
                .map(|(_, actor)| async move { ask(&actor, Command::Granted).await });
            let answers = futures_util::future::join_all(all).await;
            if let Some(list) = &mut done.rules {
                add(list, answers);
            }
            Ok(done)
        }
        .boxed()
    }
}

fn add(list: &mut RuleList, answers: Vec<Answer>) {
    let silent = answers.iter().filter(|answer| answer.is_err()).count();
    let granted = answers
        .into_iter()
        .filter_map(|answer| answer.ok().flatten());
    let mut granted: Vec<GrantedTool> = granted.flatten().collect();
    granted.sort_by(|one, other| {
        let key =
            |granted: &GrantedTool| (granted.conversation_id.clone(), granted.tool_name.clone());
        key(one).cmp(&key(other))
    });
    list.granted = (!granted.is_empty()).then_some(granted);
    if silent > 0 && list.warning.is_none() {
        list.warning = Some(format!(
            "{silent} of the conversations did not answer in time; what was allowed for them is missing here, look again"
        ));
    }
}

#[cfg(test)]
mod tests {
    use estelle_proto::{ConversationId, Timestamp};

    use super::*;

    fn granted(conversation: &str, tool: &str) -> GrantedTool {
        let id = ConversationId::parse(conversation).expect("an id");
        GrantedTool::new(id, tool.to_owned(), Timestamp(1))
    }

    /// What a conversation says that has too much to do.
    async fn silence() -> Answer {
        let never = std::future::pending::<Option<Vec<GrantedTool>>>();
        tokio::time::timeout(std::time::Duration::ZERO, never).await
    }

    #[tokio::test]
    async fn what_was_allowed_is_in_order_and_whoever_did_not_answer_is_counted() {
        let answers = || {
            vec![
                Ok(Some(vec![granted("b", "Write"), granted("b", "Bash")])),
                Ok(None),
                Ok(Some(vec![granted("a", "Write")])),
            ]
        };
        let expected = vec![
            granted("a", "Write"),
            granted("b", "Bash"),
            granted("b", "Write"),
        ];
        let mut list = RuleList::new(Vec::new());
        add(&mut list, answers());
        assert_eq!(list.granted.as_ref(), Some(&expected));
        assert_eq!(list.warning, None, "one that is gone has nothing to tell");
        let mut list = RuleList::new(Vec::new());
        let mut some = answers();
        some.push(silence().await);
        some.push(silence().await);
        add(&mut list, some);
        assert_eq!(list.granted.as_ref(), Some(&expected));
        let warning = list.warning.expect("a warning");
        assert!(warning.starts_with("2 of the conversations"), "{warning}");
    }

    #[tokio::test]
    async fn what_is_wrong_with_the_rules_matters_more_than_who_was_silent() {
        let mut list = RuleList::new(Vec::new());
        list.warning = Some("damaged".to_owned());
        add(&mut list, vec![silence().await]);
        assert_eq!(list.warning.as_deref(), Some("damaged"));
        assert_eq!(list.granted, None);
    }
}
