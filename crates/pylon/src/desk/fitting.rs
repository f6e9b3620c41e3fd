//! Makes the list of workspaces fit a frame: what has rested longest is left out first, and it is said how much.
//!
//! A list that does not fit would reach nobody, and with it nobody would see any conversation. Pure.

use std::collections::BTreeSet;

use estelle_proto::workspaces::{Workspace, WorkspaceListResult};
use estelle_proto::{Conversation, ConversationId, ConversationStatus, limits};
use serde::Serialize;

/// What the list may take; the rest of the frame is for the envelope and what a request names.
const MOST_BYTES: usize = limits::MAX_FRAME_BYTES - 16 * 1024;

fn bytes(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}

/// How much a person would miss a conversation: those that wait, work or have something new more than any that rests.
fn weight(conversation: &Conversation) -> (bool, i64) {
    let rests = conversation.status == ConversationStatus::Idle
        && conversation.unread != Some(true)
        && conversation.is_active != Some(true);
    (!rests, conversation.updated_at.map_or(0, |at| at.0))
}

/// Leaves conversations out until the list fits.
pub(super) fn fit(result: &mut WorkspaceListResult) {
    fit_into(result, MOST_BYTES);
}

fn fit_into(result: &mut WorkspaceListResult, most: usize) {
    let all = bytes(result);
    if all <= most {
        return;
    }
    let conversations = result.workspaces.iter().flat_map(|one| &one.conversations);
    let mut conversations: Vec<_> = conversations
        .map(|one| (weight(one), bytes(one) + 1, one.conversation_id.clone()))
        .collect();
    conversations.sort();
    // Each workspace says how many are missing.
    let mut excess = all - most + result.workspaces.len() * r#","leftOut":1000000"#.len();
    let mut out = BTreeSet::new();
    for (_, size, id) in conversations {
        if excess == 0 {
            break;
        }
        excess = excess.saturating_sub(size);
        out.insert(id);
    }
    for workspace in &mut result.workspaces {
        leave_out(workspace, &out);
    }
}

fn leave_out(workspace: &mut Workspace, out: &BTreeSet<ConversationId>) {
    let before = workspace.conversations.len();
    workspace
        .conversations
        .retain(|one| !out.contains(&one.conversation_id));
    let missing = before - workspace.conversations.len();
    if missing > 0 {
        workspace.left_out = u32::try_from(missing).ok();
    }
}

#[cfg(test)]
mod tests {
    use estelle_proto::workspaces::{PylonInfo, WorkerStatus};
    use estelle_proto::{DeviceId, Name, PathText, SkillType, Timestamp, WorkspaceId};

    use super::*;

    fn conversation(number: i64) -> Conversation {
        let id = ConversationId::parse(&format!("c{number}")).unwrap();
        let name = Name::parse(&"n".repeat(60)).unwrap();
        Conversation {
            updated_at: Some(Timestamp(number)),
            ..Conversation::new(id, name, SkillType::General, ConversationStatus::Idle)
        }
    }

    fn list(count: i64) -> WorkspaceListResult {
        let workspaces = (0..2).map(|half| {
            let id = WorkspaceId::parse(&format!("w{half}")).unwrap();
            let name = Name::parse("Project").unwrap();
            let folder = PathText::parse("/work").unwrap();
            let own = (0..count).filter(|number| number % 2 == half);
            let own = own.map(conversation).collect();
            Workspace::new(id, name, folder, own, Vec::new(), WorkerStatus::new(false))
        });
        let info = PylonInfo::new("Selene".to_owned(), "x".to_owned());
        WorkspaceListResult::new(DeviceId(1), info, workspaces.collect())
    }

    fn ids(list: &WorkspaceListResult) -> BTreeSet<String> {
        let all = list.workspaces.iter().flat_map(|one| &one.conversations);
        all.map(|one| one.conversation_id.to_string()).collect()
    }

    #[test]
    fn a_list_that_fits_is_left_alone() {
        let (mut fitted, whole) = (list(1000), list(1000));
        fit(&mut fitted);
        assert_eq!(fitted, whole);
    }

    #[test]
    fn of_ten_thousand_the_newest_are_listed_and_the_rest_is_counted() {
        let mut fitted = list(10_000);
        assert!(bytes(&fitted) > MOST_BYTES);
        fit(&mut fitted);
        assert!(bytes(&fitted) <= MOST_BYTES);
        let left = ids(&fitted);
        assert!(left.len() > 2000, "{}", left.len());
        let newest = (0..10_000).rev().take(left.len());
        assert_eq!(left, newest.map(|number| format!("c{number}")).collect());
        let out: u32 = fitted
            .workspaces
            .iter()
            .filter_map(|one| one.left_out)
            .sum();
        assert_eq!(out as usize + left.len(), 10_000);
    }

    #[test]
    fn what_waits_works_or_is_new_is_not_left_out() {
        let mut fitted = list(100);
        let (first, second) = fitted.workspaces.split_at_mut(1);
        first[0].conversations[0].status = ConversationStatus::Permission;
        first[0].conversations[1].unread = Some(true);
        second[0].conversations[0].is_active = Some(true);
        second[0].conversations[1].status = ConversationStatus::Working;
        fit_into(&mut fitted, bytes(&list(20)));
        let left = ids(&fitted);
        for kept in ["c0", "c1", "c2", "c3", "c99"] {
            assert!(left.contains(kept), "{kept}");
        }
        assert!(!left.contains("c4"));
    }
}
