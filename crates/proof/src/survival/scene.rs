//! What every story begins with: a host, two people, a conversation.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function waits for a few kinds and passes over the others"
)]

use std::time::Duration;

use estelle_proto::decisions::PermissionDecision;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{HostToPylon, SendMessage};
use estelle_proto::{ConversationId, ToolUseId};

use estelle_sim::script::Script;

use super::{AT_REST, judge};
use crate::history::History;
use crate::rig::{Agent, App, HostOptions, Rig, Viewer};

/// How long everything has to come to rest.
const REST_LIMIT: Duration = Duration::from_secs(12);
/// How often it is looked.
const LOOK: Duration = Duration::from_millis(50);

/// A host, two people, a conversation.
#[derive(Debug)]
pub struct Scene {
    /// The place.
    pub rig: Rig,
    /// Who writes the messages.
    pub anna: Viewer,
    /// Who watches, and sometimes answers.
    pub ben: Viewer,
    /// The conversation.
    pub id: ConversationId,
    /// Those who come over the relay.
    pub apps: Vec<App>,
    /// How long it took until apps had live text again, at most.
    pub resumed: Option<Duration>,
    /// All conversations that were begun.
    begun: Vec<ConversationId>,
    /// Where Anna's recording was when she last wrote.
    mark: usize,
}

impl Scene {
    /// The place and the people; no host yet.
    pub async fn new(agent: &Agent) -> anyhow::Result<Self> {
        let mut rig = Rig::new(agent).await?;
        let id = rig.conversation()?;
        Ok(Self {
            anna: rig.viewer("anna", 101),
            ben: rig.viewer("ben", 102),
            rig,
            id,
            apps: Vec::new(),
            resumed: None,
            begun: Vec::new(),
            mark: 0,
        })
    }

    /// Keeps the data folder on a small disk; before a host is there.
    pub fn use_small_disk(&mut self, bytes: u64) -> anyhow::Result<()> {
        self.rig.use_small_disk(bytes)?;
        self.anna = self.rig.viewer("anna", 101);
        self.ben = self.rig.viewer("ben", 102);
        Ok(())
    }

    /// A host runs and both people are there.
    pub async fn open(&mut self) -> anyhow::Result<()> {
        self.open_with(&HostOptions::default()).await
    }

    /// The same with a host that something will happen to.
    pub async fn open_with(&mut self, options: &HostOptions) -> anyhow::Result<()> {
        self.rig.start_host_with(options).await?;
        self.anna.connect().await?;
        self.ben.connect().await
    }

    /// Anna writes a message; both watch the conversation from then on.
    pub async fn say(&mut self, prompt: &str) -> anyhow::Result<()> {
        let id = self.id.clone();
        self.say_in(&id, prompt).await
    }

    /// The same in another conversation.
    pub async fn say_in(&mut self, id: &ConversationId, prompt: &str) -> anyhow::Result<()> {
        self.mark = self.anna.len();
        self.anna.say(id, prompt).await?;
        if self.begun.contains(id) {
            return Ok(());
        }
        self.watch(id).await
    }

    /// Both watch a conversation from now on.
    pub async fn watch(&mut self, id: &ConversationId) -> anyhow::Result<()> {
        self.begun.push(id.clone());
        self.anna.subscribe(id).await?;
        self.ben.subscribe(id).await
    }

    /// The conversation was begun by a message that was not acknowledged here.
    pub fn has_begun(&mut self) {
        self.begun.push(self.id.clone());
    }

    /// A conversation that is gone on purpose.
    pub fn forget(&mut self, id: &ConversationId) {
        self.begun.retain(|begun| begun != id);
    }

    /// Another conversation.
    pub fn another(&mut self) -> anyhow::Result<ConversationId> {
        self.rig.conversation()
    }

    /// A new host, and everybody is back where they were.
    pub async fn come_back(&mut self) -> anyhow::Result<()> {
        self.rig.start_host().await?;
        self.reconnect().await
    }

    /// Everybody is back where they were.
    pub async fn reconnect(&mut self) -> anyhow::Result<()> {
        for viewer in [&mut self.anna, &mut self.ben] {
            viewer.connect().await?;
            for id in &self.begun {
                viewer.subscribe(id).await?;
            }
        }
        Ok(())
    }

    /// The same with a host that has to notice first that others have left.
    pub async fn reconnect_when_there_is_room(&mut self) -> anyhow::Result<()> {
        let deadline = tokio::time::Instant::now() + REST_LIMIT;
        loop {
            match self.reconnect().await {
                Err(_) if tokio::time::Instant::now() < deadline => {
                    tokio::time::sleep(LOOK).await;
                }
                reconnected => return reconnected,
            }
        }
    }

    /// Sends a message again that may or may not have arrived.
    pub async fn deliver_again(&mut self, message: &SendMessage) -> anyhow::Result<()> {
        self.anna.deliver(message.clone()).await
    }

    /// Anna says something until it is taken: a host that has no room refuses for a while.
    pub async fn say_until_taken(&mut self, text: &str) -> anyhow::Result<()> {
        let id = self.id.clone();
        self.say_until_taken_in(&id, text).await
    }

    /// The same in another conversation.
    pub async fn say_until_taken_in(
        &mut self,
        id: &ConversationId,
        text: &str,
    ) -> anyhow::Result<()> {
        let deadline = tokio::time::Instant::now() + REST_LIMIT;
        let prompt = Script::new().say(text).prompt();
        loop {
            match self.say_in(id, &prompt).await {
                Err(_) if tokio::time::Instant::now() < deadline => {
                    tokio::time::sleep(LOOK).await;
                }
                taken => return taken,
            }
        }
    }

    /// Waits for a piece of the answer to Anna's last message.
    pub async fn text_flows(&mut self) -> anyhow::Result<()> {
        let is_piece = |message: &HostToPylon| match message {
            HostToPylon::Event(event) => matches!(event.event, ClaudeEvent::Text(_)).then_some(()),
            // Whoever comes late finds the pieces in the snapshot.
            HostToPylon::Snapshot(snapshot) => {
                let text = snapshot.status.partial_text.as_deref();
                text.is_some_and(|text| !text.is_empty()).then_some(())
            }
            _ => None,
        };
        let wait = self.anna.wait_from(self.mark, "a piece of text", is_piece);
        wait.await
    }

    /// Waits until both have this text whole, and the end of its turn.
    pub async fn is_said(&mut self, text: &str) -> anyhow::Result<()> {
        let id = self.id.clone();
        self.is_said_in(&id, text).await
    }

    /// The same in another conversation.
    pub async fn is_said_in(&mut self, id: &ConversationId, text: &str) -> anyhow::Result<()> {
        for viewer in [&mut self.anna, &mut self.ben] {
            let mut said = false;
            viewer
                .event(id, &format!("{text:?} and a result"), |event| match event {
                    ClaudeEvent::TextComplete(whole) if whole.text == text => {
                        said = true;
                        None
                    }
                    ClaudeEvent::Result(_) if said => Some(()),
                    _ => None,
                })
                .await?;
        }
        Ok(())
    }

    /// Waits until both have this text whole.
    pub async fn is_told_in(&mut self, id: &ConversationId, text: &str) -> anyhow::Result<()> {
        for viewer in [&mut self.anna, &mut self.ben] {
            let is_it = |event: &ClaudeEvent| match event {
                ClaudeEvent::TextComplete(whole) if whole.text == text => Some(()),
                _ => None,
            };
            viewer.event(id, &format!("{text:?}"), is_it).await?;
        }
        Ok(())
    }

    /// Waits until Ben is asked something that is not in `before`, and gives the call.
    pub async fn is_asked(&mut self, before: &[&ToolUseId]) -> anyhow::Result<ToolUseId> {
        let id = self.id.clone();
        self.ben
            .wait("a prompt", |message| {
                let (session, call) = match message {
                    HostToPylon::PermissionRequest(asked) => {
                        (&asked.session_id, &asked.tool_use_id)
                    }
                    HostToPylon::QuestionRequest(asked) => (&asked.session_id, &asked.tool_use_id),
                    _ => return None,
                };
                (*session == id && !before.contains(&call)).then(|| call.clone())
            })
            .await
    }

    /// Ben allows a call.
    pub async fn allow(&mut self, call: &ToolUseId) -> anyhow::Result<()> {
        let id = self.id.clone();
        let result = self
            .ben
            .answer(&id, call, PermissionDecision::Allow)
            .await?;
        anyhow::ensure!(result.success, "the answer was refused: {:?}", result.error);
        Ok(())
    }

    /// Waits until nothing moves any more, and gives the history if no promise is broken.
    pub async fn settle(&mut self) -> anyhow::Result<History> {
        let deadline = tokio::time::Instant::now() + REST_LIMIT;
        loop {
            let history = self
                .rig
                .history(&[&self.anna, &self.ben], &self.apps, AT_REST)?;
            match judge(&history) {
                Ok(()) => return Ok(history),
                Err(error) if tokio::time::Instant::now() > deadline => return Err(error),
                Err(_) => tokio::time::sleep(LOOK).await,
            }
        }
    }

    /// Copies the place of a failed story to where `ESTELLE_EVIDENCE` says.
    pub(super) fn keep_evidence(&self, name: &str) {
        self.rig.keep_evidence(name);
    }
}
