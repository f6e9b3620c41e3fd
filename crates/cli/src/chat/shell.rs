//! The loop around the machine: waits for whatever happens first, and does what follows from it.
//!
//! The permission callback hands each request over with a way to answer it. A request that the CLI withdraws drops
//! its end of that way, which is how the machine learns of it.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::Pin;

use estelle_claude::options::{CallContext, Options};
use estelle_claude::wire::control::CanUseTool;
use estelle_claude::wire::{Message, PermissionResult};
use estelle_claude::{Handle, Session, StreamError};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{mpsc, oneshot};

use super::desk::{AskId, Control, Desk, Effect, Input};
use super::keys::Signals;
use super::printer::Printer;
use super::trouble;

/// The CLI asks one after the other; sub-agents add a few.
const ASKS_AHEAD: usize = 16;

/// A permission request on its way to the user.
#[derive(Debug)]
pub(crate) struct Asked {
    request: CanUseTool,
    answer: oneshot::Sender<PermissionResult>,
}

/// Adds the callback that brings permission requests to the user.
pub(crate) fn with_questions(options: Options) -> (Options, mpsc::Receiver<Asked>) {
    let (sender, receiver) = mpsc::channel(ASKS_AHEAD);
    let options = options.can_use_tool(move |request, _context: CallContext| {
        let sender = sender.clone();
        async move {
            let (answer, answered) = oneshot::channel();
            let refused = || PermissionResult::deny("Nobody is there to ask.");
            if sender.send(Asked { request, answer }).await.is_err() {
                return refused();
            }
            answered.await.unwrap_or_else(|_| refused())
        }
    });
    (options, receiver)
}

type Doing = Pin<Box<dyn Future<Output = Option<Input>>>>;

/// The conversation and everything it is connected to.
pub(crate) struct Shell {
    pub(crate) session: Session,
    pub(crate) desk: Desk,
    pub(crate) printer: Printer,
    pub(crate) asked: mpsc::Receiver<Asked>,
    pub(crate) lines: mpsc::Receiver<String>,
    pub(crate) signals: Signals,
    /// Ways to answer the open questions.
    answers: BTreeMap<AskId, oneshot::Sender<PermissionResult>>,
    last_ask: AskId,
    /// Requests to the CLI that are under way.
    doing: FuturesUnordered<Doing>,
}

impl std::fmt::Debug for Shell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shell")
            .field("desk", &self.desk)
            .finish_non_exhaustive()
    }
}

/// What a shell is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) session: Session,
    pub(crate) desk: Desk,
    pub(crate) printer: Printer,
    pub(crate) asked: mpsc::Receiver<Asked>,
    pub(crate) lines: mpsc::Receiver<String>,
    pub(crate) signals: Signals,
}

impl Shell {
    /// A shell around a conversation that has just begun.
    pub(crate) fn new(parts: Parts) -> Self {
        Self {
            session: parts.session,
            desk: parts.desk,
            printer: parts.printer,
            asked: parts.asked,
            lines: parts.lines,
            signals: parts.signals,
            answers: BTreeMap::new(),
            last_ask: 0,
            doing: FuturesUnordered::new(),
        }
    }

    /// Runs the conversation to its end.
    pub(crate) async fn run(mut self) -> io::Result<(Desk, Printer)> {
        loop {
            if let Some(prompt) = self.desk.prompt() {
                self.printer.prompt(prompt)?;
            }
            let Some(input) = self.next_input().await else {
                continue;
            };
            let gone = matches!(input, Input::Gone(_));
            self.note(&input)?;
            for effect in self.desk.step(input) {
                self.perform(effect).await?;
            }
            if gone {
                return Ok((self.desk, self.printer));
            }
        }
    }

    /// Whatever happens first. Signals, answers and withdrawals come before the flood of messages; questions after the messages
    /// that led to them; the user's lines last.
    async fn next_input(&mut self) -> Option<Input> {
        let wants_line = self.desk.wants_line();
        tokio::select! {
            biased;
            signal = self.signals.next() => Some(signal),
            Some(done) = self.doing.next() => done,
            id = withdrawn(&mut self.answers) => {
                self.answers.remove(&id);
                Some(Input::Withdrawn(id))
            }
            message = self.session.next() => Some(received(message)),
            Some(asked) = self.asked.recv() => {
                self.last_ask += 1;
                self.answers.insert(self.last_ask, asked.answer);
                Some(Input::Asked(self.last_ask, Box::new(asked.request)))
            }
            line = self.lines.recv(), if wants_line => Some(line.map_or(Input::LinesOver, Input::Line)),
        }
    }

    /// Keeps the printer informed of what the terminal shows by itself.
    fn note(&mut self, input: &Input) -> io::Result<()> {
        if self.desk.is_interactive() {
            match input {
                Input::Line(_) => self.printer.line_entered(),
                Input::Interrupt | Input::LinesOver => self.printer.key_echoed()?,
                Input::Terminate(_)
                | Input::Message(_)
                | Input::Asked(..)
                | Input::Withdrawn(_)
                | Input::Done(..)
                | Input::Gone(_) => {}
            }
        }
        Ok(())
    }

    async fn perform(&mut self, effect: Effect) -> io::Result<()> {
        match effect {
            Effect::Show(pieces) => self.printer.show(&pieces)?,
            Effect::Send(text) => {
                // A CLI that is gone says so at the end of its messages.
                let _ = self.session.send(text).await;
            }
            Effect::Answer(id, result) => {
                if let Some(answer) = self.answers.remove(&id) {
                    // The CLI may have withdrawn the question this very moment.
                    let _ = answer.send(*result);
                }
            }
            Effect::Control(control) => self
                .doing
                .push(Box::pin(request(self.session.handle().clone(), control))),
            Effect::EndInput => self.session.end_input().await,
            Effect::Close => {
                let handle = self.session.handle().clone();
                self.doing.push(Box::pin(async move {
                    handle.close().await;
                    None
                }));
            }
        }
        Ok(())
    }
}

async fn request(handle: Handle, control: Control) -> Option<Input> {
    let result = match &control {
        Control::Interrupt => handle.interrupt().await.map(drop),
        Control::Model(name) => handle.set_model(Some(name.clone())).await.map(drop),
        Control::Mode(mode) => handle.set_permission_mode(mode.clone()).await,
    };
    Some(Input::Done(
        control,
        result.map_err(|error| error.to_string()),
    ))
}

fn received(message: Option<Result<Message, StreamError>>) -> Input {
    match message {
        Some(Ok(message)) => Input::Message(Box::new(message)),
        Some(Err(StreamError::Exited(end))) => Input::Gone(Some(trouble::crash(&end))),
        Some(Err(error)) => Input::Gone(Some(trouble::broken(&error))),
        None => Input::Gone(None),
    }
}

/// The first question whose asker has gone; for ever if none has.
async fn withdrawn(answers: &mut BTreeMap<AskId, oneshot::Sender<PermissionResult>>) -> AskId {
    let mut closed: FuturesUnordered<_> = answers
        .iter_mut()
        .map(|(id, answer)| async {
            answer.closed().await;
            *id
        })
        .collect();
    match closed.next().await {
        Some(id) => id,
        None => std::future::pending().await,
    }
}
