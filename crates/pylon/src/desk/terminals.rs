//! Terminals: the host starts and ends them, their keepers are looked at from here, one task for each look.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use estelle_proto::ipc::{CloseTerminal, KeptTerminal, OpenTerminal, PylonToHost};
use estelle_proto::keeper::{Ack, Attach, Input, KeeperToViewer, Resize, ViewerToKeeper};
use estelle_proto::terminals::{
    TerminalAck, TerminalAttach, TerminalAttachResult, TerminalClose, TerminalCloseResult,
    TerminalCreate, TerminalCreateResult, TerminalDetach, TerminalEnded, TerminalInput,
    TerminalKind, TerminalList, TerminalListResult, TerminalOutput, TerminalResize, TerminalState,
};
use estelle_proto::{
    ApiError, DeviceId, ErrorCode, ErrorReport, PathText, Reply as _, Retry, TerminalId, limits,
};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use super::claude::has_place;
use super::context::{Asker, Context};
use super::error::{Told as _, bounded, refusal, unknown_word};
use super::paths::workspace_folder;
use super::planner;
use super::removing::{close_if_removed, finish_clearing};
use super::workspaces::{known_workspace, told};
use crate::link::keeper::{Viewer, find, list as list_all};

/// What may wait for one keeper.
const SAID: usize = 64;
/// Terminals that one client may look at.
const MAX_LOOKS: usize = 16;

type Open = HashMap<(DeviceId, TerminalId), mpsc::Sender<ViewerToKeeper>>;

/// Who looks at which terminal.
#[derive(Debug, Clone)]
pub(super) struct Looks {
    open: Arc<Mutex<Open>>,
    tasks: TaskTracker,
}

impl Looks {
    pub(super) fn new(tasks: TaskTracker) -> Self {
        Self {
            open: Arc::default(),
            tasks,
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // Nothing that could fail is done while it is held.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client is gone, or may look no longer.
    pub(super) fn leave(&self, client: DeviceId) {
        self.open().retain(|(one, _), _| *one != client);
    }

    fn of(&self, client: DeviceId, id: &TerminalId) -> Option<mpsc::Sender<ViewerToKeeper>> {
        self.open().get(&(client, id.clone())).cloned()
    }

    /// The newest look of a client at a terminal counts.
    fn begin(
        &self,
        client: DeviceId,
        id: &TerminalId,
    ) -> Result<mpsc::Receiver<ViewerToKeeper>, ApiError> {
        let mut open = self.open();
        open.retain(|_, said| !said.is_closed());
        let looks = open.keys().filter(|(one, _)| *one == client).count();
        if looks >= MAX_LOOKS {
            let text = format!("{MAX_LOOKS} terminals are looked at already: detach from one");
            return Err(ApiError::new(ErrorCode::RateLimited, text, Retry::Later));
        }
        let (said, saying) = mpsc::channel(SAID);
        open.insert((client, id.clone()), said);
        Ok(saying)
    }
}

pub(super) async fn list(cx: &Context, asker: &Asker, request: TerminalList) {
    let result = |terminals| TerminalListResult::new(cx.device(), terminals);
    let result = match list_all(&cx.host).await {
        Ok(all) => result(all.into_iter().map(|kept| kept.terminal).collect()),
        Err(error) => result(Vec::new()).failed(error),
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

pub(super) async fn create(cx: &Context, asker: &Asker, request: TerminalCreate) {
    let id = request.request_id.clone();
    let result = TerminalCreateResult::new(cx.device());
    let result = match try_create(cx, request).await {
        Ok(kept) => TerminalCreateResult {
            terminal: Some(kept.terminal),
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(id.as_ref()));
}

async fn try_create(cx: &Context, request: TerminalCreate) -> Result<KeptTerminal, ApiError> {
    let is_agent = match &request.kind {
        TerminalKind::Agent => true,
        TerminalKind::Shell => false,
        TerminalKind::Unknown(word) => return Err(unknown_word("kind", word)),
    };
    if is_agent && request.conversation_id.is_none() {
        let text = "the agent's interface needs `conversationId`";
        return Err(refusal(ErrorCode::InvalidMessage, text));
    }
    if request.prompt.is_some() && !is_agent {
        let text = "a `prompt` is for the agent; type into a shell instead";
        return Err(refusal(ErrorCode::InvalidMessage, text));
    }
    if request.model.is_some() && !is_agent {
        let text = "a `model` is for the agent; a shell has none";
        return Err(refusal(ErrorCode::InvalidMessage, text));
    }
    let known = match &request.conversation_id {
        Some(id) => {
            let known = cx.store.conversation(id.clone()).await;
            let known = known.map_err(|error| error.told())?;
            if is_agent {
                planner::lendable(&known.conversation.skill_type)?;
            }
            Some(known)
        }
        None => None,
    };
    let workspace = match &request.workspace_id {
        Some(id) => Some(known_workspace(cx, id).await?),
        None => None,
    };
    if let Some(known) = &known {
        has_place(known)?;
    }
    // The folder of a worktree was made by us, beside our data.
    let is_ours =
        request.path.is_none() && known.as_ref().is_some_and(|one| one.worktree.is_some());
    let (folder, model) = match (request.path, known, workspace) {
        (Some(path), known, _) => (path, known.and_then(|known| known.model)),
        (None, Some(known), _) => (known.working_dir, known.model),
        (None, None, Some(workspace)) => (workspace.working_dir, None),
        (None, None, None) => {
            let text = "say where: `conversationId`, `workspaceId` or `path`";
            return Err(refusal(ErrorCode::InvalidMessage, text));
        }
    };
    let roots: &[PathBuf] = if is_ours { &[] } else { &cx.config.roots };
    let folder: PathText = workspace_folder(&folder, roots).await?;
    let id = match request.terminal_id {
        Some(id) => id,
        None => new_id()?,
    };
    let command = OpenTerminal {
        session_id: request.conversation_id.filter(|_| is_agent),
        model: request.model.or(model),
        prompt: request.prompt,
        ..OpenTerminal::new(id.clone(), request.kind, folder, request.size)
    };
    if let Some(conversation) = &command.session_id {
        finish_clearing(cx, conversation).await?;
    }
    let lent = command.session_id.clone();
    let made = ask(cx, command).await?;
    if let Some(conversation) = lent {
        close_if_removed(cx, &conversation, &id).await?;
    }
    let made = made.terminals.unwrap_or_default().into_iter().next();
    made.ok_or_else(|| crate::link::keeper::unknown(&id))
}

fn new_id() -> Result<TerminalId, ApiError> {
    let random = uuid::Uuid::new_v4().simple().to_string();
    let id = TerminalId::parse(&format!("t-{}", &random[..12]));
    id.map_err(|error| refusal(ErrorCode::Internal, error.to_string()))
}

async fn ask(
    cx: &Context,
    command: impl Into<PylonToHost>,
) -> Result<estelle_proto::ipc::RequestResult, ApiError> {
    let answer = cx.host.request(command).await;
    let answer = answer.map_err(|error| error.told())?;
    answer.outcome()?;
    Ok(answer)
}

pub(super) async fn attach(cx: &Context, asker: &Asker, request: TerminalAttach) {
    let (id, name) = (request.request_id.clone(), request.terminal_id.clone());
    let result = TerminalAttachResult::new(cx.device(), name);
    match try_attach(cx, asker, request).await {
        Ok((kept, viewer, saying)) => {
            let result = TerminalAttachResult {
                terminal: Some(kept.terminal.clone()),
                ..result
            };
            // The screen comes behind this.
            asker.answer(result.in_reply_to(id.as_ref()));
            let look = Look {
                asker: Asker {
                    request: None,
                    ..asker.clone()
                },
                pylon: cx.device(),
                id: kept.terminal.terminal_id,
            };
            cx.looks.tasks.spawn(look.run(viewer, saying));
        }
        Err(error) => asker.answer(result.failed(error).in_reply_to(id.as_ref())),
    }
}

async fn try_attach(
    cx: &Context,
    asker: &Asker,
    request: TerminalAttach,
) -> Result<(KeptTerminal, Viewer, mpsc::Receiver<ViewerToKeeper>), ApiError> {
    if asker.device == cx.device() {
        let text = "a terminal is looked at over `/ws/terminals/{id}` here";
        return Err(refusal(ErrorCode::Conflict, text));
    }
    if request.size.as_ref().is_some_and(|size| !size.is_usable()) {
        return Err(refusal(ErrorCode::InvalidMessage, no_size()));
    }
    let kept = find(&cx.host, &request.terminal_id).await?;
    let mut viewer = Viewer::open(Path::new(kept.socket.as_str()), &cx.looks.tasks).await?;
    let attach = Attach { size: request.size };
    viewer.say(attach).await?;
    let saying = cx.looks.begin(asker.device, &request.terminal_id)?;
    Ok((kept, viewer, saying))
}

/// One look at a terminal.
struct Look {
    asker: Asker,
    pylon: DeviceId,
    id: TerminalId,
}

impl Look {
    /// Until the client looks away or the keeper is gone.
    async fn run(self, mut viewer: Viewer, mut saying: mpsc::Receiver<ViewerToKeeper>) {
        let mut has_ended = false;
        let mut takes = true;
        loop {
            tokio::select! {
                biased;
                said = saying.recv(), if takes => {
                    let Some(message) = said else {
                        return;
                    };
                    if viewer.say(message).await.is_err() {
                        // What it showed last, and how it ended, is still to be told.
                        takes = false;
                        saying.close();
                    }
                }
                seen = viewer.next() => match seen {
                    Some(seen) => {
                        has_ended |= matches!(seen, KeeperToViewer::Ended(_));
                        self.tell(seen);
                    }
                    None if has_ended => return,
                    None => {
                        let lost = TerminalState::Lost;
                        let ended = TerminalEnded::new(self.pylon, self.id.clone(), lost);
                        return self.asker.answer(ended);
                    }
                },
            }
        }
    }

    fn tell(&self, seen: KeeperToViewer) {
        match seen {
            KeeperToViewer::Output(output) => self.asker.answer(TerminalOutput {
                screen: output.screen,
                ..TerminalOutput::new(self.pylon, self.id.clone(), output.frame, output.data)
            }),
            KeeperToViewer::Ended(ended) => self.asker.answer(TerminalEnded {
                exit_code: ended.exit_code,
                signal: ended.signal,
                ..TerminalEnded::new(self.pylon, self.id.clone(), ended.state)
            }),
            KeeperToViewer::Error(report) => self.complain(report),
            KeeperToViewer::Hello(_) | KeeperToViewer::Unknown(_) => {}
        }
    }

    fn complain(&self, report: ErrorReport) {
        let about = report
            .about
            .as_deref()
            .map(|kind| format!("terminal_{kind}"));
        let code = report.error_code.unwrap_or(ErrorCode::Internal);
        let retry = report.retry.unwrap_or(Retry::Never);
        let error = ApiError::new(code, report.error, retry);
        self.asker.complain(error, about.as_deref());
    }
}

pub(super) async fn input(cx: &Context, asker: &Asker, request: TerminalInput) {
    let length = request.data.len();
    if let Err(error) = bounded("data", length, limits::MAX_TERMINAL_INPUT_BYTES) {
        return asker.complain(error, Some("terminal_input"));
    }
    let message = Input {
        paste: request.paste,
        ..Input::new(request.data)
    };
    say(cx, asker, &request.terminal_id, message, "terminal_input").await;
}

pub(super) async fn resize(cx: &Context, asker: &Asker, request: TerminalResize) {
    if !request.size.is_usable() {
        let error = refusal(ErrorCode::InvalidMessage, no_size());
        return asker.complain(error, Some("terminal_resize"));
    }
    let message = Resize::new(request.size);
    say(cx, asker, &request.terminal_id, message, "terminal_resize").await;
}

pub(super) async fn ack(cx: &Context, asker: &Asker, request: TerminalAck) {
    let message = Ack::new(request.frame);
    say(cx, asker, &request.terminal_id, message, "terminal_ack").await;
}

async fn say(
    cx: &Context,
    asker: &Asker,
    id: &TerminalId,
    message: impl Into<ViewerToKeeper>,
    about: &str,
) {
    let said = match cx.looks.of(asker.device, id) {
        Some(look) => look.send(message.into()).await.is_ok(),
        None => false,
    };
    if !said {
        let text = format!("nobody looks at the terminal {id} here: attach to it first");
        asker.complain(refusal(ErrorCode::UnknownTerminal, text), Some(about));
    }
}

/// Looking away from what one does not look at is no failure.
pub(super) fn detach(cx: &Context, asker: &Asker, request: &TerminalDetach) {
    let look = (asker.device, request.terminal_id.clone());
    cx.looks.open().remove(&look);
}

pub(super) async fn close(cx: &Context, asker: &Asker, request: TerminalClose) {
    let (id, name) = (request.request_id, request.terminal_id);
    let result = TerminalCloseResult::new(cx.device(), name.clone());
    let closed = ask(cx, CloseTerminal::new(name)).await.map(drop);
    asker.answer(told(result, closed).in_reply_to(id.as_ref()));
}

fn no_size() -> String {
    let (cols, rows) = (limits::MAX_TERMINAL_COLS, limits::MAX_TERMINAL_ROWS);
    format!("a terminal has 2 to {cols} columns and 2 to {rows} rows")
}
