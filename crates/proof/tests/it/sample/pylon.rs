//! The same history as a faultless Pylon and two apps behind it would have it.

use estelle_proof::history::{
    App, AppStep, ChainedEvent, Conversation, History, Part, Shelf, ShelfRow,
};
use estelle_proto::claude::ClaudeEventMessage;
use estelle_proto::conversations::ConversationSelect;
use estelle_proto::decisions::{ClaudePermission, ClaudePermissionResult, PermissionDecision};
use estelle_proto::events::{Activity, ActivityState, ClaudeEvent, StateUpdate, TextDelta};
use estelle_proto::history::{
    HistoryError, HistoryMessage, HistoryResult, HistoryText, HistoryToolComplete,
    HistoryToolStart, HistoryTurnResult, HistoryUsage, HistoryUserResponse, Role,
};
use estelle_proto::{
    AppToPylon, DeviceId, Epoch, Generation, Json, PylonToApp, RequestId, Seq, Timestamp,
    ToolUseId, WorkspaceId,
};

const PYLON: DeviceId = DeviceId(1);
const EPOCH: Epoch = Epoch(1);

/// Adds a Pylon with its rows, and two apps.
pub(crate) fn behind(mut history: History) -> History {
    let conversations = history.conversations.clone();
    history.shelves = conversations.iter().map(shelf).collect();
    let [first, second] = &conversations[..] else {
        panic!("two conversations");
    };
    let mut phone = Device::new("phone");
    phone.looks(first, 0);
    phone.watches(first, 0..9);
    phone.loses();
    phone.looks(first, 9);
    phone.watches(first, 9..usize::MAX);
    phone.answers_late(first, "toolu_2");
    phone.hears(second);
    let mut tablet = Device::new("tablet");
    tablet.looks(second, 3);
    tablet.watches(second, 3..usize::MAX);
    let mut laptop = Device::new("laptop");
    laptop.looks_slowly(first, 1, 3);
    laptop.watches(first, 3..usize::MAX);
    laptop.hears(second);
    let mut watch = Device::new("watch");
    watch.looks(first, 0);
    // At rest nothing is being written, and nobody says so.
    watch.app.steps.pop();
    watch.watches(first, 0..usize::MAX);
    watch.hears(second);
    let mut desk = Device::new("desk");
    desk.looks(first, 0);
    desk.watches_over_deaths(first);
    desk.hears(second);
    history.apps = vec![phone.app, tablet.app, laptop.app, watch.app, desk.app];
    history
}

fn shelf(conversation: &Conversation) -> Shelf {
    let events = conversation.newest().unwrap().events();
    let rows = events.iter().filter_map(|event| {
        Some(ShelfRow {
            epoch: EPOCH,
            seq: event.seq,
            message: row(event)?,
        })
    });
    Shelf {
        conversation: conversation.id.clone(),
        epoch: Some(EPOCH),
        seq: Seq(events.len() as u64),
        rows: rows.collect(),
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the other events of the sample make no row"
)]
fn row(event: &ChainedEvent<'_>) -> Option<HistoryMessage> {
    let (seq, at) = (Some(event.seq), Timestamp(1));
    let message = match event.event {
        ClaudeEvent::UserMessage(said) => HistoryText {
            seq,
            ..HistoryText::new(Role::User, said.content.clone(), at)
        }
        .into(),
        ClaudeEvent::TextComplete(said) => HistoryText {
            seq,
            parent_tool_use_id: said.parent_tool_use_id.clone(),
            ..HistoryText::new(Role::Assistant, said.text.clone(), at)
        }
        .into(),
        ClaudeEvent::ToolInfo(call) => HistoryToolStart {
            seq,
            tool_use_id: call.tool_use_id.clone(),
            ..HistoryToolStart::new(call.tool_name.clone(), Json::parse("{}").unwrap(), at)
        }
        .into(),
        ClaudeEvent::ToolComplete(call) => HistoryToolComplete {
            seq,
            tool_use_id: call.tool_use_id.clone(),
            ..HistoryToolComplete::new(call.tool_name.clone(), call.success, String::new(), at)
        }
        .into(),
        ClaudeEvent::Result(result) => HistoryTurnResult {
            seq,
            subtype: Some(result.subtype.clone()),
            ..HistoryTurnResult::new(result.duration_ms, HistoryUsage::new(0, 0, 0), at)
        }
        .into(),
        ClaudeEvent::DecisionAnswered(answered) => HistoryUserResponse {
            seq,
            ..HistoryUserResponse::new(answered.tool_use_id.clone(), "allowed".to_owned(), at)
        }
        .into(),
        ClaudeEvent::Error(error) => HistoryError {
            seq,
            ..HistoryError::new(error.error.clone(), at)
        }
        .into(),
        _ => return None,
    };
    Some(message)
}

/// An app that is being written down.
struct Device {
    app: App,
    requests: u32,
}

impl Device {
    fn new(name: &str) -> Self {
        let app = App {
            name: name.to_owned(),
            outsider: false,
            steps: vec![AppStep::Connected],
        };
        Self { app, requests: 0 }
    }

    fn sent(&mut self, request: impl Into<AppToPylon>) {
        self.app.steps.push(AppStep::Sent(Box::new(request.into())));
    }

    fn got(&mut self, message: impl Into<PylonToApp>) {
        self.app.steps.push(AppStep::Got(Box::new(message.into())));
    }

    fn loses(&mut self) {
        self.app.steps.extend([AppStep::Lost, AppStep::Connected]);
    }

    fn request(&mut self) -> RequestId {
        self.requests += 1;
        RequestId::parse(&format!("{}-{}", self.app.name, self.requests)).unwrap()
    }

    /// Looks at a conversation when so many events have happened.
    fn looks(&mut self, conversation: &Conversation, events: u64) {
        let (id, workspace) = (self.request(), WorkspaceId::parse("w").unwrap());
        self.sent(ConversationSelect {
            request_id: Some(id.clone()),
            ..ConversationSelect::new(workspace.clone(), conversation.id.clone())
        });
        let rows: Vec<HistoryMessage> = conversation
            .newest()
            .unwrap()
            .events()
            .iter()
            .filter(|event| event.seq.0 <= events)
            .filter_map(row)
            .collect();
        let count = rows.len() as u64;
        let page = HistoryResult::new(
            PYLON,
            workspace,
            conversation.id.clone(),
            rows,
            0,
            count,
            false,
        );
        self.got(HistoryResult {
            request_id: Some(id),
            epoch: Some(EPOCH),
            head_seq: Some(Seq(events)),
            ..page
        });
        let state = ActivityState::new(Activity::Thinking);
        let update = StateUpdate {
            open: Some(Vec::new()),
            ..StateUpdate::new(state, String::new())
        };
        self.event(conversation, None, update.into());
    }

    /// Looks at a conversation of which `events` have happened. Until the page is there it has got as far as `to`.
    fn looks_slowly(&mut self, conversation: &Conversation, events: u64, to: usize) {
        self.looks(conversation, events);
        // Nothing is being written any more when the page is there.
        self.app.steps.pop();
        let page = self.app.steps.pop();
        let from = usize::try_from(events).unwrap();
        self.watches(conversation, from..to);
        self.app.steps.extend(page);
    }

    /// Gets events as they happen while the host dies in every text, and in turn comes back in time for the rest of its
    /// pieces, or only with the whole.
    fn watches_over_deaths(&mut self, conversation: &Conversation) {
        let life = conversation.newest().unwrap().clone();
        let mut is_in_time = true;
        for event in life.events() {
            if let ClaudeEvent::TextComplete(whole) = event.event {
                let all = self.app.steps.len();
                self.pieces(conversation, &whole.text, whole.parent_tool_use_id.as_ref());
                let rest = self.app.steps.split_off(all + 1);
                self.app.steps.push(AppStep::Died(Part::Host));
                if is_in_time {
                    self.app.steps.extend(rest);
                }
                is_in_time = !is_in_time;
            }
            self.event(conversation, Some(event.seq), event.event.clone());
        }
    }

    fn event(&mut self, conversation: &Conversation, seq: Option<Seq>, event: ClaudeEvent) {
        let workspace = WorkspaceId::parse("w").unwrap();
        self.got(ClaudeEventMessage {
            seq,
            epoch: seq.map(|_| EPOCH),
            ..ClaudeEventMessage::new(workspace, conversation.id.clone(), event)
        });
    }

    /// Gets events as they happen, texts in pieces before they are whole.
    fn watches(&mut self, conversation: &Conversation, which: std::ops::Range<usize>) {
        let life = conversation.newest().unwrap().clone();
        let events = life.events();
        for (at, event) in events.iter().enumerate() {
            if !which.contains(&at) {
                continue;
            }
            if let ClaudeEvent::TextComplete(whole) = event.event {
                self.pieces(conversation, &whole.text, whole.parent_tool_use_id.as_ref());
            }
            self.event(conversation, Some(event.seq), event.event.clone());
        }
    }

    fn pieces(&mut self, conversation: &Conversation, text: &str, parent: Option<&ToolUseId>) {
        let mut at = 0;
        for word in text.split_inclusive(' ') {
            let piece = TextDelta {
                generation: Some(Generation(1)),
                block: Some(0),
                at: Some(at),
                parent_tool_use_id: parent.cloned(),
                ..TextDelta::new(word.to_owned())
            };
            at += word.encode_utf16().count() as u64;
            self.event(conversation, None, piece.into());
        }
    }

    /// Hears of a conversation that it does not look at what everybody must.
    fn hears(&mut self, conversation: &Conversation) {
        let life = conversation.newest().unwrap().clone();
        for event in life.events() {
            if matches!(
                event.event,
                ClaudeEvent::PermissionAsked(_) | ClaudeEvent::Result(_)
            ) {
                self.event(conversation, Some(event.seq), event.event.clone());
            }
        }
    }

    /// Answers what somebody else has answered.
    fn answers_late(&mut self, conversation: &Conversation, call: &str) {
        let (id, workspace) = (self.request(), WorkspaceId::parse("w").unwrap());
        let call = ToolUseId::parse(call).unwrap();
        let allow = PermissionDecision::Allow;
        self.sent(ClaudePermission {
            request_id: Some(id.clone()),
            ..ClaudePermission::new(workspace, conversation.id.clone(), call.clone(), allow)
        });
        self.got(ClaudePermissionResult {
            request_id: Some(id),
            success: false,
            ..ClaudePermissionResult::new(PYLON, conversation.id.clone(), call)
        });
    }
}
