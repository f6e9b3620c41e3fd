//! One try of everything an app does, for those who live through chaos: it works, or it did not.
//!
//! Nothing here waits for a part that is away. A try is over when its answer is there, when the connection or the Pylon is
//! gone, when a Pylon comes, or when it took too long; whoever tries decides what is next.

use estelle_proto::decisions::{ClaudeAnswer, ClaudeAnswerResult};
use estelle_proto::{Answer, OnBusy, Seq};

use super::{
    App, AppStep, ClaudePermission, ClaudePermissionResult, ClaudeSend, ClientMessageId,
    ConversationSelect, Duration, Part, PermissionDecision, Prompt, PylonToApp, RequestId, Talk,
    ToolUseId, WorkspaceList,
};

/// How a try went.
#[derive(Debug, Clone, PartialEq)]
pub enum Tried<T> {
    /// The answer.
    Answered(T),
    /// No answer came: the connection or the Pylon is gone, or another came.
    Broken,
    /// No answer came for all the time that was given.
    Silent,
}

impl App {
    /// Connects and is let in, if there is a relay now.
    pub async fn connects(&mut self) -> bool {
        self.leave().await;
        self.try_connect().await.is_ok()
    }

    /// The connection is dropped without a word, as when a program is killed.
    pub async fn leave(&mut self) {
        self.sink = None;
        self.readers.shutdown().await;
        if self.is_connected() {
            self.record.push(AppStep::Lost);
        }
    }

    /// Asks what there is, as an app does that finds a Pylon; what waits for a person comes with the answer.
    pub async fn asks_what_there_is(&mut self) -> bool {
        let Ok(id) = self.request() else {
            return false;
        };
        let list = WorkspaceList {
            request_id: Some(id.clone()),
        };
        self.send(&id, list).await.is_ok()
    }

    /// Looks at a conversation; tells whether it is shown.
    pub async fn looks(&mut self, talk: &Talk, wait: Duration) -> Tried<bool> {
        let Ok(id) = self.request() else {
            return Tried::Broken;
        };
        let from = self.mark();
        let select = ConversationSelect {
            request_id: Some(id.clone()),
            ..ConversationSelect::new(talk.workspace.clone(), talk.id.clone())
        };
        if self.send(&id, select).await.is_err() {
            return Tried::Broken;
        }
        self.reply(from, wait, |message| match message {
            PylonToApp::HistoryResult(page) if page.request_id.as_ref() == Some(&id) => {
                Some(page.success)
            }
            _ => None,
        })
        .await
    }

    /// Sends a message, perhaps again; gives whether it was taken, and its number.
    pub async fn says(
        &mut self,
        talk: &Talk,
        name: &ClientMessageId,
        prompt: &str,
        wait: Duration,
    ) -> Tried<(bool, Option<Seq>)> {
        let (Ok(id), Ok(prompt)) = (self.request(), Prompt::parse(prompt)) else {
            return Tried::Broken;
        };
        let from = self.mark();
        let message = ClaudeSend {
            request_id: Some(id.clone()),
            client_message_id: Some(name.clone()),
            // A turn of its own, so that its last words are certain to be said.
            on_busy: Some(OnBusy::Queue),
            ..ClaudeSend::new(talk.workspace.clone(), talk.id.clone(), prompt)
        };
        if self.send(&id, message).await.is_err() {
            return Tried::Broken;
        }
        self.reply(from, wait, |message| match message {
            PylonToApp::ClaudeSendResult(result) if result.request_id.as_ref() == Some(&id) => {
                Some((result.success, result.seq))
            }
            _ => None,
        })
        .await
    }

    /// Allows or denies a call.
    pub async fn decides(
        &mut self,
        talk: &Talk,
        call: &ToolUseId,
        word: PermissionDecision,
        wait: Duration,
    ) -> Tried<ClaudePermissionResult> {
        let Ok(id) = self.request() else {
            return Tried::Broken;
        };
        let from = self.mark();
        let (workspace, conversation) = (talk.workspace.clone(), talk.id.clone());
        let decision = ClaudePermission {
            request_id: Some(id.clone()),
            ..ClaudePermission::new(workspace, conversation, call.clone(), word)
        };
        if self.send(&id, decision).await.is_err() {
            return Tried::Broken;
        }
        self.reply(from, wait, |message| match message {
            PylonToApp::ClaudePermissionResult(result)
                if result.request_id.as_ref() == Some(&id) =>
            {
                Some(result.clone())
            }
            _ => None,
        })
        .await
    }

    /// Answers a question.
    pub async fn answers(
        &mut self,
        talk: &Talk,
        call: &ToolUseId,
        answer: Answer,
        wait: Duration,
    ) -> Tried<ClaudeAnswerResult> {
        let Ok(id) = self.request() else {
            return Tried::Broken;
        };
        let from = self.mark();
        let (workspace, conversation) = (talk.workspace.clone(), talk.id.clone());
        let words = ClaudeAnswer {
            request_id: Some(id.clone()),
            ..ClaudeAnswer::new(workspace, conversation, call.clone(), answer)
        };
        if self.send(&id, words).await.is_err() {
            return Tried::Broken;
        }
        self.reply(from, wait, |message| match message {
            PylonToApp::ClaudeAnswerResult(result) if result.request_id.as_ref() == Some(&id) => {
                Some(result.clone())
            }
            _ => None,
        })
        .await
    }

    /// Waits until something more is recorded, or for so long.
    pub async fn stirs(&self, from: usize, wait: Duration) {
        let more = self.record.find(from, |_| Some(()));
        // Nothing came: whoever waits looks around all the same.
        let _ = tokio::time::timeout(wait, more).await;
    }

    async fn reply<T>(
        &self,
        from: usize,
        wait: Duration,
        mut fits: impl FnMut(&PylonToApp) -> Option<T>,
    ) -> Tried<T> {
        let found = self.record.find(from, |step| match step {
            AppStep::Got(message) => match fits(message) {
                Some(answer) => Some(Tried::Answered(answer)),
                None if is_arrival(message) => Some(Tried::Broken),
                None => None,
            },
            AppStep::Lost | AppStep::Died(Part::Pylon) => Some(Tried::Broken),
            AppStep::Connected | AppStep::Sent(_) | AppStep::Died(Part::Host) => None,
        });
        let found = tokio::time::timeout(wait, found).await;
        found.unwrap_or(Tried::Silent)
    }
}

/// A Pylon that comes says what there is, without being asked.
fn is_arrival(message: &PylonToApp) -> bool {
    let none: Option<&RequestId> = None;
    matches!(message, PylonToApp::WorkspaceListResult(list) if list.request_id.as_ref() == none)
}
