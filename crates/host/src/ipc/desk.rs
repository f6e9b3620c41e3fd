//! What the server needs of the host.
//!
//! The host implements [`Desk`]; tests put a stand-in there. A future that is dropped because its client left must not
//! undo what was asked for.

use estelle_proto::history::HistoryMessage;
use estelle_proto::ipc::{
    ClaimCall, KeptTerminal, RequestResult, RuleList, SessionStatus, Subscribe,
};
use estelle_proto::saved::SavedSession;
use estelle_proto::{
    ApiError, ClaudeSessionId, ConversationId, DeviceId, HostToPylon, PylonToHost, Reply as _,
    RequestId, Seq, Timestamp,
};
use futures_util::future::BoxFuture;

use crate::mailbox::{Enlisted, Mailbox};

/// What the server needs of the host.
pub trait Desk: Send + Sync + 'static {
    /// Takes a command and fixes its order; the future is its result.
    ///
    /// Gets every command but `hello`, `get_status`, `pylon_reconnected`, `claim_call`, `subscribe` and `unsubscribe`.
    fn submit(
        &self,
        command: PylonToHost,
    ) -> impl Future<Output = BoxFuture<'static, Result<Done, Refusal>>> + Send;

    /// How one conversation is, or all.
    fn status(
        &self,
        which: Option<ConversationId>,
    ) -> impl Future<Output = Result<Vec<SessionStatus>, ApiError>> + Send;

    /// One message for each open decision arrives in the mailbox: soon, or late for a conversation that is busy.
    fn tell_decisions(&self, mailbox: Mailbox) -> impl Future<Output = ()> + Send;

    /// The client of a mailbox wants to carry a call out; it may when this is granted.
    fn claim(
        &self,
        claim: ClaimCall,
        mailbox: Mailbox,
    ) -> impl Future<Output = Result<(), ApiError>> + Send;

    /// Starts a subscription: `subscribed`, the replay, the snapshot and what happens from then on arrive in the mailbox.
    ///
    /// Ends with the snapshot. It may be dropped halfway; [`Desk::unsubscribe`] then follows.
    fn subscribe(
        &self,
        request: Subscribe,
        mailbox: Mailbox,
    ) -> impl Future<Output = Result<(), ApiError>> + Send;

    /// Ends a subscription, or does nothing if there is none.
    fn unsubscribe(
        &self,
        id: &ConversationId,
        mailbox: &Mailbox,
    ) -> impl Future<Output = ()> + Send;

    /// A client is connected: it gets what concerns everybody, until the guard is dropped.
    fn enlist(&self, mailbox: Mailbox) -> Enlisted;
}

/// A command was carried out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Done {
    /// The number a message got.
    pub seq: Option<Seq>,
    /// Who answered the decision.
    pub answered_by: Option<DeviceId>,
    /// When.
    pub answered_at: Option<Timestamp>,
    /// Whether the process that was started knows what was said before.
    pub resumed_with_history: Option<bool>,
    /// The permission rules, if they were asked for or changed.
    pub rules: Option<RuleList>,
    /// The terminals, if they were asked for.
    pub terminals: Option<Vec<KeptTerminal>>,
    /// What the running turn has cost so far, if that was asked for.
    pub turn_cost: Option<f64>,
    /// What was found of saved sessions, if they were asked for.
    pub saved: Option<Box<SavedFound>>,
}

/// What was found of saved sessions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SavedFound {
    /// The sessions.
    pub sessions: Option<Vec<SavedSession>>,
    /// What was said in one.
    pub messages: Option<Vec<HistoryMessage>>,
    /// Where the next page begins.
    pub next: Option<u32>,
    /// The copy of one.
    pub copy: Option<ClaudeSessionId>,
}

/// A command was not carried out, and nothing has changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct Refusal {
    /// Why.
    pub error: ApiError,
    /// Who answered the decision first, if that is why.
    pub answered_by: Option<DeviceId>,
    /// When.
    pub answered_at: Option<Timestamp>,
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Self {
            error,
            answered_by: None,
            answered_at: None,
        }
    }
}

/// The result as a message.
pub(super) fn result(
    session_id: Option<ConversationId>,
    request: Option<&RequestId>,
    outcome: Result<Done, Refusal>,
) -> HostToPylon {
    let result = match outcome {
        Ok(done) => RequestResult {
            session_id,
            seq: done.seq,
            answered_by: done.answered_by,
            answered_at: done.answered_at,
            resumed_with_history: done.resumed_with_history,
            rules: done.rules.map(Box::new),
            terminals: done.terminals,
            turn_cost_usd: done.turn_cost,
            ..match done.saved {
                Some(found) => RequestResult {
                    saved: found.sessions,
                    messages: found.messages,
                    next_offset: found.next,
                    claude_session_id: found.copy,
                    ..RequestResult::default()
                },
                None => RequestResult::default(),
            }
        },
        Err(refusal) => RequestResult {
            session_id,
            answered_by: refusal.answered_by,
            answered_at: refusal.answered_at,
            ..RequestResult::default()
        }
        .failed(refusal.error),
    };
    result.in_reply_to(request).into()
}
