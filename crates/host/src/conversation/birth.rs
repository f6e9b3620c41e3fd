//! The beginning of a conversation: its first message is looked at before anything is made for it.
//!
//! The task is there from the first moment, so that the order of commands is fixed without waiting and two first messages
//! cannot make two logs. Until a message is taken on there is no conversation: whatever else is asked is refused, and
//! when no message can be worked on the task ends without a trace.

use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use estelle_proto::ipc::{PylonToHost, SendMessage};
use estelle_proto::{
    ApiError, ConversationId, Epoch, ErrorCode, Generation, PermissionMode, Retry,
};
use estelle_state::conversation::Change;
use tokio::sync::mpsc;

use super::actor::{Command, disk_trouble, now};
use super::book::{Beginning, Book, LOG};
use super::context::Context;
use super::requests::check_session;
use crate::launch::{FolderTrust, Hooks, LaunchWish};

/// Waits for a first message that can be worked on: the book that is begun for it, and the message.
///
/// None as soon as everything that was asked is refused.
pub(crate) async fn await_first_message(
    context: &Context,
    id: &ConversationId,
    inbox: &mut mpsc::Receiver<Command>,
) -> Option<(Book, Command)> {
    loop {
        let command = inbox.recv().await?;
        if let Command::Submit(asked, reply) = command {
            let begun = if let PylonToHost::SendMessage(message) = asked.as_ref() {
                begin(context, id, message).await
            } else {
                Err(unknown(id))
            };
            let refused = match begun {
                Ok(book) => return Some((book, Command::Submit(asked, reply))),
                Err(refused) => refused,
            };
            // A client that left does not hear it.
            let _ = reply.send(Err(refused.into()));
        }
        if inbox.is_empty() {
            return None;
        }
    }
}

async fn begin(
    context: &Context,
    id: &ConversationId,
    message: &SendMessage,
) -> Result<Book, ApiError> {
    // Nothing is made for a message that cannot be worked on.
    check_session(&message.payload)?;
    context.preflight(&first_wish(message)).await?;
    let folder = context.conversation_folder(id.as_str());
    if folder.join(LOG).exists() {
        // A log is never begun over another one, whatever became of the task that kept it.
        let opened = Book::open(&folder, now());
        return opened
            .map(|opened| opened.book)
            .map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string(), Retry::Later));
    }
    let begun =
        private_folder(&folder).and_then(|()| Book::begin(&folder, now(), first_of(id.clone())));
    begun.map_err(|error| {
        // Nobody was promised anything; a folder that holds something is kept.
        let _ = std::fs::remove_dir(&folder);
        tracing::error!(conversation = %id, %error, "the log could not be begun");
        disk_trouble()
    })
}

/// The book of a conversation in which nobody has said anything yet, for a terminal that goes on with it.
pub(crate) fn begin_empty(context: &Context, id: &ConversationId) -> io::Result<Book> {
    let folder = context.conversation_folder(id.as_str());
    if folder.join(LOG).exists() {
        let opened = Book::open(&folder, now());
        return opened.map(|opened| opened.book).map_err(io::Error::other);
    }
    private_folder(&folder)?;
    Book::begin(&folder, now(), first_of(id.clone())).map_err(io::Error::other)
}

/// The beginning of a conversation that there never was.
pub(super) fn first_of(id: ConversationId) -> Beginning {
    Beginning {
        id,
        epoch: Epoch(1),
        generation: Generation(0),
        settings: Change::default(),
        events: Vec::new(),
    }
}

/// A folder that only its owner can look into.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

pub(crate) fn unknown(id: &ConversationId) -> ApiError {
    let message = format!("there is no conversation {id} on this host");
    ApiError::new(ErrorCode::UnknownConversation, message, Retry::Never)
}

fn first_wish(command: &SendMessage) -> LaunchWish {
    let payload = &command.payload;
    LaunchWish {
        conversation: command.session_id.clone(),
        generation: Generation(1),
        run_folder: "/".into(),
        working_dir: payload.working_dir.as_str().into(),
        resume: payload.claude_session_id.clone(),
        mode: payload
            .permission_mode
            .clone()
            .unwrap_or(PermissionMode::Default),
        model: payload.model.clone(),
        append_system_prompt: payload.append_system_prompt.clone(),
        mcp_config: payload.mcp_config.clone(),
        servers: None,
        tool_server: None,
        trust: FolderTrust::Withheld,
        hooks: Hooks::None,
        frozen: None,
    }
}
