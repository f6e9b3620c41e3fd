//! Answers the CLI's requests with the caller's callbacks.
//!
//! **Invariant:** the permission gate fails closed. A missing callback, a request that cannot be read or a
//! callback that panics never lets a tool run: the CLI gets a denial or an error, and runs nothing on either.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::ready;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::engine::{Answer, CallError, Payload, Responder, Unreadable, refuse};
use crate::line::Line;
use crate::mcp::{McpBridge, McpServers, OutboundMessage};
use crate::options::{self, CallContext, Options};
use crate::wire::control::{
    CanUseTool, Elicitation, ElicitationAction, ElicitationResult, HookCallback, McpMessage,
    Request, RequestUserDialog, UserDialogCancelled, UserDialogResult,
};
use crate::wire::{Body, Message};

/// The callbacks of one conversation.
pub(super) struct Callbacks {
    can_use_tool: Option<options::CanUseTool>,
    hooks: HashMap<String, options::HookCallback>,
    on_elicitation: Option<options::OnElicitation>,
    on_user_dialog: Option<options::OnUserDialog>,
    servers: Mutex<McpBridge>,
}

impl Callbacks {
    /// Those of the options, and what the in-process servers want to send by themselves.
    pub(super) fn of(options: &Options) -> (Self, mpsc::Receiver<OutboundMessage>) {
        let (bridge, outbound) = McpBridge::new(&options.settings.mcp_servers);
        let callbacks = Self {
            can_use_tool: options.callbacks.can_use_tool.clone(),
            hooks: options.hook_callbacks().into_iter().collect(),
            on_elicitation: options.callbacks.on_elicitation.clone(),
            on_user_dialog: options.callbacks.on_user_dialog.clone(),
            servers: Mutex::new(bridge),
        };
        (callbacks, outbound)
    }

    /// Makes the in-process servers those among `servers`.
    pub(super) fn set_servers(&self, servers: &McpServers) {
        self.servers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .set_servers(servers);
    }

    fn permission(&self, request: Box<CanUseTool>, context: CallContext) -> Answer {
        let Some(callback) = self.can_use_tool.clone() else {
            return refuse("no permission callback is set");
        };
        async move { Payload::of(&callback(*request, context).await) }.boxed()
    }

    fn hook(&self, request: Box<HookCallback>, context: CallContext) -> Answer {
        let Some(callback) = self.hooks.get(&request.callback_id).cloned() else {
            return refuse(&format!(
                "no hook callback has the id `{}`",
                request.callback_id
            ));
        };
        async move { Payload::of(&callback(request.input, request.tool_use_id, context).await) }
            .boxed()
    }

    /// Called in the order of arrival, which MCP needs; the futures may then run in any order.
    fn mcp(&self, request: &McpMessage) -> Answer {
        let Ok(message) = request.message.value() else {
            return refuse("the MCP message cannot be read");
        };
        let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = servers.answer(&request.server_name, message);
        async move { Payload::of(&answer.await.map_err(|error| CallError(error.to_string()))?) }
            .boxed()
    }

    fn elicitation(&self, request: Elicitation, context: CallContext) -> Answer {
        let Some(callback) = self.on_elicitation.clone() else {
            return ready(Payload::of(&ElicitationResult::new(
                ElicitationAction::Decline,
            )))
            .boxed();
        };
        async move { Payload::of(&callback(request, context).await) }.boxed()
    }

    fn dialog(&self, request: RequestUserDialog, context: CallContext) -> Answer {
        let Some(callback) = self.on_user_dialog.clone() else {
            return ready(Payload::of(&UserDialogResult::Cancelled(
                UserDialogCancelled::default(),
            )))
            .boxed();
        };
        async move { Payload::of(&callback(request, context).await) }.boxed()
    }
}

impl Responder for Callbacks {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "whatever else comes, known or not, is refused"
    )]
    fn respond(
        &self,
        line: &Line,
        request_id: &str,
        cancelled: CancellationToken,
    ) -> Result<Answer, Unreadable> {
        let request = match Message::parse(line.clone()).body {
            Body::ControlRequest(request) => request.request,
            Body::Malformed(_) => return Err(Unreadable),
            _ => return Ok(refuse(&Unreadable.to_string())),
        };
        let context = CallContext::new(request_id, cancelled);
        Ok(match request {
            Request::CanUseTool(request) => self.permission(request, context),
            Request::HookCallback(request) => self.hook(request, context),
            Request::McpMessage(request) => self.mcp(&request),
            Request::Elicitation(request) => self.elicitation(*request, context),
            Request::RequestUserDialog(request) => self.dialog(request, context),
            other => refuse(&format!(
                "this host does not answer `{}` requests",
                other.tag()
            )),
        })
    }
}
