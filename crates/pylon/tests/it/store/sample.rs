//! Events as a host would report them, for tests.

use estelle_proto::events::{
    ClaudeEvent, Init, ModelShare, StateChanged, TextComplete, ToolComplete, ToolInfo, TurnResult,
    UserMessage,
};
use estelle_proto::ipc::HostEvent;
use estelle_proto::limits::{LIVE_RESULT_CHARS, cut};
use estelle_proto::{
    ChainHash, ClaudeSessionId, ConversationId, ConversationStatus, Epoch, Json, Seq, Timestamp,
    ToolImage, ToolUseId, Usage,
};

/// Noon of a day in November.
pub(crate) const NOON: i64 = 1_794_744_000_000;

/// A conversation's log, as far as events of it were made.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    pub(crate) id: ConversationId,
    pub(crate) epoch: u64,
    pub(crate) seq: u64,
}

impl Log {
    pub(crate) fn new(id: &ConversationId) -> Self {
        Self::at(id, 1, 0)
    }

    pub(crate) fn at(id: &ConversationId, epoch: u64, seq: u64) -> Self {
        let id = id.clone();
        Self { id, epoch, seq }
    }

    /// The next durable event.
    pub(crate) fn event(&mut self, event: impl Into<ClaudeEvent>) -> HostEvent {
        self.seq += 1;
        HostEvent {
            seq: Some(Seq(self.seq)),
            epoch: Some(Epoch(self.epoch)),
            chain_hash: Some(hash(self.epoch, self.seq)),
            timestamp: Some(Timestamp(NOON + i64::try_from(self.seq).unwrap())),
            ..HostEvent::new(self.id.clone(), event.into())
        }
    }

    pub(crate) fn user(&mut self, text: &str) -> HostEvent {
        self.event(UserMessage::new(text.to_owned(), Timestamp(NOON)))
    }

    pub(crate) fn says(&mut self, text: &str) -> HostEvent {
        self.event(TextComplete::new(text.to_owned()))
    }

    /// An event that makes no entry.
    pub(crate) fn state(&mut self, state: ConversationStatus) -> HostEvent {
        self.event(StateChanged::new(state))
    }

    pub(crate) fn init(&mut self, session: &str, model: &str) -> HostEvent {
        let session = ClaudeSessionId::parse(session).unwrap();
        self.event(Init::new(session, model.to_owned(), Vec::new()))
    }

    pub(crate) fn call(&mut self, id: &str, input: &str) -> HostEvent {
        self.event(ToolInfo {
            tool_use_id: Some(ToolUseId::parse(id).unwrap()),
            ..ToolInfo::new("Bash".to_owned(), Json::parse(input).unwrap())
        })
    }

    /// A long output comes as the host sends it: cut in the event, whole beside it.
    pub(crate) fn returned(&mut self, id: &str, output: &str) -> HostEvent {
        let shown = cut(output, LIVE_RESULT_CHARS);
        let event = self.event(ToolComplete {
            tool_use_id: Some(ToolUseId::parse(id).unwrap()),
            ..ToolComplete::new("Bash".to_owned(), true, shown.to_owned())
        });
        HostEvent {
            full_result: (shown.len() < output.len()).then(|| output.to_owned()),
            ..event
        }
    }

    /// A picture comes as the host sends it: named in the event, with its bytes beside it.
    pub(crate) fn pictured(&mut self, id: &str, images: &[&str]) -> HostEvent {
        let size = |data: &str| data.len() as u64 / 4 * 3;
        let picture = |data: &&str| ToolImage::new("image/png".to_owned(), size(data));
        let event = self.event(ToolComplete {
            tool_use_id: Some(ToolUseId::parse(id).unwrap()),
            images: Some(images.iter().map(picture).collect()),
            ..ToolComplete::new("Read".to_owned(), true, "[image]".to_owned())
        });
        HostEvent {
            full_images: Some(images.iter().map(|data| (*data).to_owned()).collect()),
            ..event
        }
    }

    pub(crate) fn result(&mut self, usd: f64, tokens: u64) -> HostEvent {
        let usage = Usage::new(tokens, tokens * 2, tokens * 3, tokens * 4);
        let result = TurnResult::new("success".to_owned(), 1500, usd, 1, usage);
        self.event(result)
    }

    /// A turn of several models, each with its cost and its tokens.
    pub(crate) fn shared_result(&mut self, shares: &[(&str, f64, u64)]) -> HostEvent {
        let usage = |tokens| Usage::new(tokens, tokens * 2, tokens * 3, tokens * 4);
        let models = shares
            .iter()
            .map(|(model, usd, tokens)| ModelShare::new((*model).to_owned(), *usd, usage(*tokens)));
        let usd = shares.iter().map(|(_, usd, _)| usd).sum();
        let result = TurnResult {
            models: Some(models.collect()),
            // What the CLI tells of the turn as a whole leaves out what sub-agents used.
            ..TurnResult::new("success".to_owned(), 1500, usd, 1, usage(1))
        };
        self.event(result)
    }
}

pub(crate) fn hash(epoch: u64, seq: u64) -> ChainHash {
    ChainHash::parse(&format!("{epoch:016x}{seq:016x}")).unwrap()
}
