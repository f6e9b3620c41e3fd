//! The loop around a conversation that somebody follows: events are shown, decisions are asked about, Ctrl-C leaves.
//!
//! Leaving ends nothing: the turn goes on, and that is said.

use std::process::ExitCode;
use std::time::Duration;

use estelle_proto::ConversationId;
use estelle_proto::claude::ClaudeEventMessage;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::failure::{ASKED, LEFT, TURN_FAILED};
use super::follow::{Ending, Follow};
use super::screen::Screen;
use super::session::Session;
use super::talk::carry_out;
use crate::chat::piece::{Piece, Tone};
use crate::host::attach::answer::{Matter, Understood};

/// What is done about a decision that waits.
pub(super) enum WhenAsked {
    /// A person at this terminal answers, line by line.
    Ask(mpsc::Receiver<String>),
    /// It is shown, and somebody else answers.
    Wait,
    /// It is shown, and the command ends.
    Leave,
}

/// Everything that the loop holds.
pub(super) struct Turn {
    pub(super) session: Session,
    pub(super) follow: Follow,
    pub(super) screen: Screen,
    pub(super) when_asked: WhenAsked,
    pub(super) until: Option<Instant>,
    /// The decision that is on the screen.
    asked: Option<estelle_proto::ToolUseId>,
    interrupt: Signal,
}

/// What happened next.
enum Next {
    Event(Box<ClaudeEventMessage>),
    Lost(anyhow::Error),
    Typed(Option<String>),
    Interrupted,
    TooLate,
}

impl Turn {
    pub(super) fn new(
        session: Session,
        follow: Follow,
        screen: Screen,
        when_asked: WhenAsked,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            session,
            follow,
            screen,
            when_asked,
            until: None,
            asked: None,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Gives up after a while.
    pub(super) fn within(mut self, limit: Option<Duration>) -> Self {
        self.until = limit.map(|limit| Instant::now() + limit);
        self
    }

    /// Follows until what is awaited has come.
    pub(super) async fn run(mut self) -> anyhow::Result<ExitCode> {
        loop {
            if let Some(ending) = self.follow.ending() {
                return Ok(code(ending));
            }
            if let Some(code) = self.ask()? {
                return Ok(code);
            }
            match self.next().await {
                Next::Event(message) => self.show(&message)?,
                Next::Lost(error) => {
                    if let Some(code) = self.come_back(error).await? {
                        return Ok(code);
                    }
                }
                Next::Typed(line) => self.typed(line).await?,
                Next::Interrupted => return self.leave(),
                Next::TooLate => {
                    let id = &self.session.spot.conversation;
                    let said = format!("The time is over. {}", farewell(id));
                    self.screen.remark(&said)?;
                    return Ok(ExitCode::FAILURE);
                }
            }
        }
    }

    async fn next(&mut self) -> Next {
        let is_asking = self.asked.is_some();
        let lines = match &mut self.when_asked {
            WhenAsked::Ask(lines) if is_asking => Some(lines),
            WhenAsked::Ask(_) | WhenAsked::Wait | WhenAsked::Leave => None,
        };
        let typed = async {
            match lines {
                Some(lines) => lines.recv().await,
                None => std::future::pending().await,
            }
        };
        let until = self.until;
        let too_late = async {
            match until {
                Some(until) => sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(()) = self.interrupt.recv() => Next::Interrupted,
            () = too_late => Next::TooLate,
            told = self.session.next() => match told {
                Ok(message) => Next::Event(Box::new(message)),
                Err(error) => Next::Lost(error),
            },
            line = typed => Next::Typed(line),
        }
    }

    /// Shows an event.
    pub(super) fn show(&mut self, message: &ClaudeEventMessage) -> anyhow::Result<()> {
        let pieces = self.follow.event(&message.event);
        self.screen.event(message, &pieces)
    }

    fn leave(&mut self) -> anyhow::Result<ExitCode> {
        self.screen.interrupted()?;
        self.screen
            .remark(&farewell(&self.session.spot.conversation))?;
        Ok(ExitCode::from(LEFT))
    }

    async fn come_back(&mut self, error: anyhow::Error) -> anyhow::Result<Option<ExitCode>> {
        self.screen
            .remark(&format!("({error}; what runs goes on, trying again)"))?;
        let missed = tokio::select! {
            Some(()) = self.interrupt.recv() => return self.leave().map(Some),
            missed = self.session.again(error) => missed?,
        };
        for message in &missed {
            self.show(message)?;
        }
        Ok(None)
    }

    /// Brings the oldest decision to the screen. Gives the exit code if that is the end.
    fn ask(&mut self) -> anyhow::Result<Option<ExitCode>> {
        let Some(open) = self.follow.open() else {
            self.asked = None;
            return Ok(None);
        };
        let call = open.call.clone();
        if self.asked.as_ref() != Some(&call) {
            match self.when_asked {
                WhenAsked::Ask(_) => self.screen.show(&open.show())?,
                WhenAsked::Wait | WhenAsked::Leave => {
                    let waits = waits(&self.session.spot.conversation, &open.matter);
                    self.screen.show(&open.describe())?;
                    self.screen.remark(&waits)?;
                }
            }
        }
        self.asked = Some(call);
        match self.when_asked {
            WhenAsked::Ask(_) => self.screen.prompt(open.prompt())?,
            WhenAsked::Wait => {}
            WhenAsked::Leave => return Ok(Some(ExitCode::from(ASKED))),
        }
        Ok(None)
    }

    async fn typed(&mut self, line: Option<String>) -> anyhow::Result<()> {
        self.screen.typed();
        let Some(line) = line else {
            // Nobody types any more; others may answer.
            self.when_asked = WhenAsked::Wait;
            return Ok(());
        };
        let Some(open) = self.follow.open() else {
            return Ok(());
        };
        match open.understand(&self.session.spot.conversation, &line) {
            Understood::Answer(command) => {
                self.follow.answered();
                if let Err(error) = carry_out(&mut self.session, *command).await {
                    let piece = Piece::line(Tone::Bad, format!("✗ {error:#}"));
                    self.screen.show(&[piece])?;
                }
            }
            Understood::Next => {
                let pieces = open.show();
                self.screen.show(&pieces)?;
            }
            Understood::Again(hint) => self.screen.show(&[Piece::line(Tone::Dim, hint)])?,
        }
        Ok(())
    }
}

fn code(ending: Ending) -> ExitCode {
    match ending {
        Ending::Done => ExitCode::SUCCESS,
        Ending::Failed | Ending::Stopped => ExitCode::from(TURN_FAILED),
    }
}

fn waits(id: &ConversationId, matter: &Matter) -> String {
    match matter {
        Matter::Permission { .. } => {
            format!("It waits for somebody: estelle approve {id}, or estelle deny {id}")
        }
        Matter::Questions { .. } => format!("It waits for somebody: estelle answer {id} ANSWER"),
    }
}

fn farewell(id: &ConversationId) -> String {
    format!("What runs goes on: `estelle watch {id}` shows it, `estelle stop {id}` ends it.")
}
