//! How all conversations are, in one line, however many there are and however much they are in the middle of.
//!
//! What a line cannot hold is left out in an order in which nobody misses it: first what each conversation shows to those
//! who subscribe to it, then those that do nothing. A client takes a conversation it does not find for an idle one.

use estelle_proto::conversations::ConversationStatus;
use estelle_proto::ipc::{HostToPylon, SessionStatus, StatusResponse, to_line};
use estelle_proto::{Json, limits};
use serde_json::json;

use crate::mailbox::{Letter, fits};

/// Inputs of calls that stay in a list that is too long.
const SHORT_BYTES: usize = 1024;

/// Room for the request's id and what is around the conversations.
const FRAME_BYTES: usize = 1024;

/// The letter that holds them.
pub(crate) fn in_one_line(status: StatusResponse) -> Letter {
    let status = HostToPylon::StatusResponse(status);
    let is_short = to_line(&status).is_ok_and(|line| fits(&line));
    let HostToPylon::StatusResponse(mut status) = status else {
        return Letter::message(&status);
    };
    if !is_short && status.sessions.len() > 1 {
        status.sessions.iter_mut().for_each(strip);
        let left_out = leave_out(&mut status.sessions);
        status.left_out = (left_out > 0).then_some(left_out);
    }
    Letter::message(&status.into())
}

/// What is being written is told to those who subscribe, and each open decision with its input in a message of its own.
fn strip(session: &mut SessionStatus) {
    session.partial_text = None;
    session.open = None;
    let first = session.pending_permission.iter_mut();
    let pending = first.chain(session.pending_permissions.iter_mut().flatten());
    for pending in pending.filter(|pending| pending.tool_input.get().len() > SHORT_BYTES) {
        let cut = json!({ "cut": "too long for a list: the request itself has more of it" });
        if let Ok(cut) = Json::of(&cut) {
            pending.tool_input = cut;
        }
    }
}

/// Keeps those for which there is room, the ones that do something first; says how many are not.
fn leave_out(sessions: &mut Vec<SessionStatus>) -> u64 {
    // The order among those that are alike stays.
    sessions.sort_by_key(is_idle);
    let mut room = limits::MAX_IPC_LINE_BYTES - FRAME_BYTES;
    let fitting = sessions.iter().take_while(|session| {
        let bytes = to_line(session).map_or(0, |line| line.len());
        let has_room = bytes <= room;
        room = room.saturating_sub(bytes);
        has_room
    });
    let kept = fitting.count();
    let left_out = sessions.len() - kept;
    sessions.truncate(kept);
    left_out as u64
}

fn is_idle(session: &SessionStatus) -> bool {
    let has_process = session
        .evidence
        .as_ref()
        .is_some_and(|evidence| evidence.lock_held || evidence.pid.is_some());
    session.state == ConversationStatus::Idle && !has_process
}

#[cfg(test)]
mod tests {
    use estelle_proto::ConversationId;
    use estelle_proto::ipc::parse_line;

    use super::*;

    fn sessions(count: usize, text: usize) -> Vec<SessionStatus> {
        let sessions = (0..count).map(|number| SessionStatus {
            partial_text: Some("x".repeat(text)),
            ..SessionStatus::new(
                ConversationId::parse(&format!("conv-{number}")).unwrap(),
                if number % 1000 == 7 {
                    ConversationStatus::Working
                } else {
                    ConversationStatus::Idle
                },
            )
        });
        sessions.collect()
    }

    fn sent(sessions: Vec<SessionStatus>) -> StatusResponse {
        let (mailbox, mut mail) = crate::mailbox::mailbox();
        mailbox
            .post(in_one_line(StatusResponse::new(sessions)))
            .unwrap();
        let Some(crate::mailbox::Mail::Line(line)) = mail.take() else {
            panic!("no line");
        };
        assert!(fits(&line));
        let message = parse_line::<HostToPylon>(line.trim_end()).unwrap();
        let HostToPylon::StatusResponse(status) = message else {
            panic!("{message:?}");
        };
        status
    }

    #[test]
    fn what_everybody_is_writing_is_left_out_when_it_is_too_much() {
        let little = sent(sessions(10, 100));
        assert!(little.sessions.iter().all(|one| one.partial_text.is_some()));
        let much = sent(sessions(300, 40_000));
        assert_eq!(much.sessions.len(), 300);
        assert!(much.sessions.iter().all(|one| one.partial_text.is_none()));
        assert_eq!(much.left_out, None);
    }

    #[test]
    fn an_open_decision_stays_in_the_list_without_its_long_input() {
        use estelle_proto::ToolUseId;
        use estelle_proto::ipc::PendingPermission;
        let mut all = sessions(12, 0);
        for session in &mut all {
            let input = json!({ "content": "x".repeat(1024 * 1024) });
            let pending = PendingPermission::new(
                ToolUseId::parse("toolu_1").unwrap(),
                "Write".to_owned(),
                Json::of(&input).unwrap(),
            );
            session.pending_permissions = Some(vec![pending]);
        }
        let much = sent(all);
        assert_eq!(much.sessions.len(), 12);
        for session in much.sessions {
            let pending = session.pending_permissions.unwrap().remove(0);
            assert_eq!(pending.tool_name, "Write");
            assert!(pending.tool_input.get().contains("cut"), "{pending:?}");
        }
    }

    #[test]
    fn those_that_do_nothing_are_left_out_last_and_counted() {
        let many = sent(sessions(120_000, 0));
        assert_eq!(many.left_out, Some(120_000 - many.sessions.len() as u64));
        let working = many.sessions.iter();
        let working = working.filter(|one| one.state == ConversationStatus::Working);
        assert_eq!(working.count(), 120);
    }
}
