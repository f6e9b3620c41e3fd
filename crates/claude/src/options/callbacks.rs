//! Functions of the program that the CLI may call while it runs.
//!
//! Owns their types and the setters that take closures. Calling them, cancelling them and sending their answers
//! is the engine's; the answers' own types are in `wire`.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::{Options, strings};
use crate::wire::control::{
    self, Elicitation, ElicitationResult, RequestUserDialog, UserDialogResult,
};
use crate::wire::{HookEvent, HookInput, HookOutput, PermissionResult};

/// What every callback is told besides the request itself.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CallContext {
    /// Fires when the CLI no longer wants the answer: after an interrupt, a hook time-out, or at the end.
    pub cancelled: CancellationToken,
    /// Id of the control request, unique within one process.
    pub request_id: String,
}

impl CallContext {
    /// The context of the request with this id.
    pub fn new(request_id: impl Into<String>, cancelled: CancellationToken) -> Self {
        Self {
            cancelled,
            request_id: request_id.into(),
        }
    }
}

/// Decides whether a tool may run. The request type of the same name is [`control::CanUseTool`].
pub type CanUseTool = Arc<
    dyn Fn(control::CanUseTool, CallContext) -> BoxFuture<'static, PermissionResult> + Send + Sync,
>;

/// Answers a hook; the second argument is the id of the tool call it belongs to, if any.
pub type HookCallback = Arc<
    dyn Fn(HookInput, Option<String>, CallContext) -> BoxFuture<'static, HookOutput> + Send + Sync,
>;

/// Answers an MCP server that asks the user something.
pub type OnElicitation =
    Arc<dyn Fn(Elicitation, CallContext) -> BoxFuture<'static, ElicitationResult> + Send + Sync>;

/// Shows a dialog of the CLI and reports its outcome.
pub type OnUserDialog = Arc<
    dyn Fn(RequestUserDialog, CallContext) -> BoxFuture<'static, UserDialogResult> + Send + Sync,
>;

/// Takes what the process writes to standard error.
pub type OnStderr = Arc<dyn Fn(&str) + Send + Sync>;

/// The callback part of [`Options`].
#[derive(Clone, Default)]
pub(crate) struct Callbacks {
    pub(crate) can_use_tool: Option<CanUseTool>,
    /// In the order of registration, because that order makes the callback ids.
    pub(crate) hooks: Vec<(HookEvent, Vec<HookMatcher>)>,
    pub(crate) on_elicitation: Option<OnElicitation>,
    pub(crate) on_user_dialog: Option<OnUserDialog>,
    pub(crate) supported_dialog_kinds: Vec<String>,
    pub(crate) stderr: Option<OnStderr>,
}

impl fmt::Debug for Callbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callbacks")
            .field("can_use_tool", &self.can_use_tool.is_some())
            .field("hooks", &self.hooks)
            .field("on_elicitation", &self.on_elicitation.is_some())
            .field("on_user_dialog", &self.on_user_dialog.is_some())
            .field("supported_dialog_kinds", &self.supported_dialog_kinds)
            .field("stderr", &self.stderr.is_some())
            .finish()
    }
}

/// Hook callbacks of one event that share a matcher.
///
/// ```
/// use std::time::Duration;
/// use estelle_claude::options::{HookMatcher, Options};
/// use estelle_claude::wire::{HookEvent, HookOutput};
///
/// let matcher = HookMatcher::for_tools("Bash")
///     .timeout(Duration::from_secs(5))
///     .callback(|_input, _tool_use_id, _context| async { HookOutput::default() });
/// let options = Options::new().hook(HookEvent::PreToolUse, matcher);
/// # let _ = options;
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct HookMatcher {
    pub(crate) matcher: Option<String>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) on_failure: Option<HookFailure>,
    pub(crate) callbacks: Vec<HookCallback>,
}

/// What the CLI does when a hook callback fails or is too late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookFailure {
    /// Goes on as if there were no hook.
    Continue,
    /// Refuses what the hook guards.
    Block,
}

impl HookFailure {
    /// The word the CLI uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Block => "block",
        }
    }
}

impl HookMatcher {
    /// Matches every occurrence of the event.
    pub fn any() -> Self {
        Self::default()
    }

    /// Matches by the CLI's pattern: for tool events the tool name, or several as in `Write|Edit`.
    pub fn for_tools(matcher: impl Into<String>) -> Self {
        Self {
            matcher: Some(matcher.into()),
            ..Self::default()
        }
    }

    /// How long the CLI waits for these callbacks. Without it most events wait for ever; `UserPromptSubmit`
    /// waits 30 s, after which 2.1.197 exits.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// What happens when a callback fails.
    pub fn on_failure(mut self, failure: HookFailure) -> Self {
        self.on_failure = Some(failure);
        self
    }

    /// Adds a callback.
    pub fn callback<F, Fut>(mut self, callback: F) -> Self
    where
        F: Fn(HookInput, Option<String>, CallContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = HookOutput> + Send + 'static,
    {
        self.callbacks
            .push(Arc::new(move |input, tool_use_id, context| {
                callback(input, tool_use_id, context).boxed()
            }));
        self
    }
}

impl fmt::Debug for HookMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookMatcher")
            .field("matcher", &self.matcher)
            .field("timeout", &self.timeout)
            .field("on_failure", &self.on_failure)
            .field("callbacks", &self.callbacks.len())
            .finish()
    }
}

impl Options {
    /// Asks this function before a tool runs that no rule or mode settles. The model's questions
    /// (AskUserQuestion) and plans (ExitPlanMode) come here too.
    ///
    /// ```
    /// use estelle_claude::options::Options;
    /// use estelle_claude::wire::PermissionResult;
    ///
    /// let options = Options::new()
    ///     .can_use_tool(|_request, _context| async { PermissionResult::deny("not today") });
    /// # let _ = options;
    /// ```
    pub fn can_use_tool<F, Fut>(mut self, callback: F) -> Self
    where
        F: Fn(control::CanUseTool, CallContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = PermissionResult> + Send + 'static,
    {
        self.callbacks.can_use_tool = Some(Arc::new(move |request, context| {
            callback(request, context).boxed()
        }));
        self
    }

    /// Adds hook callbacks for an event.
    pub fn hook(mut self, event: HookEvent, matcher: HookMatcher) -> Self {
        match self
            .callbacks
            .hooks
            .iter_mut()
            .find(|(known, _)| *known == event)
        {
            Some((_, matchers)) => matchers.push(matcher),
            None => self.callbacks.hooks.push((event, vec![matcher])),
        }
        self
    }

    /// Adds several hook callbacks, in this order.
    pub fn hooks(self, hooks: impl IntoIterator<Item = (HookEvent, HookMatcher)>) -> Self {
        hooks.into_iter().fold(self, |options, (event, matcher)| {
            options.hook(event, matcher)
        })
    }

    /// Answers MCP servers that ask the user something. Default: they are declined.
    pub fn on_elicitation<F, Fut>(mut self, callback: F) -> Self
    where
        F: Fn(Elicitation, CallContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ElicitationResult> + Send + 'static,
    {
        self.callbacks.on_elicitation = Some(Arc::new(move |request, context| {
            callback(request, context).boxed()
        }));
        self
    }

    /// Shows dialogs of the kinds declared with [`Options::supported_dialog_kinds`].
    pub fn on_user_dialog<F, Fut>(mut self, callback: F) -> Self
    where
        F: Fn(RequestUserDialog, CallContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = UserDialogResult> + Send + 'static,
    {
        self.callbacks.on_user_dialog = Some(Arc::new(move |request, context| {
            callback(request, context).boxed()
        }));
        self
    }

    /// Dialog kinds that [`Options::on_user_dialog`] can show; the CLI sends no others.
    pub fn supported_dialog_kinds<I, S>(mut self, kinds: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.callbacks.supported_dialog_kinds = strings(kinds);
        self
    }

    /// Takes what the process writes to standard error, as it comes. Must not block.
    pub fn stderr(mut self, callback: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.callbacks.stderr = Some(Arc::new(callback));
        self
    }

    /// Every hook callback with the id under which `initialize` announces it.
    ///
    /// **Invariant:** the ids depend only on the order of registration, so a program that registers the same
    /// hooks after a restart finds its callbacks again for a process that outlived it.
    pub fn hook_callbacks(&self) -> Vec<(String, HookCallback)> {
        self.callbacks
            .hooks
            .iter()
            .flat_map(|(_, matchers)| matchers)
            .flat_map(|matcher| &matcher.callbacks)
            .enumerate()
            .map(|(index, callback)| (hook_id(index), Arc::clone(callback)))
            .collect()
    }
}

/// The id of the callback registered as number `index`.
pub(crate) fn hook_id(index: usize) -> String {
    format!("hook_{index}")
}
