//! Permission requests laid on a desk: the test takes them one by one and answers when it likes.

use anyhow::Context as _;
use estelle_claude::options::{CallContext, Options};
use estelle_claude::wire::PermissionResult;
use estelle_claude::wire::control::CanUseTool;
use tokio::sync::{mpsc, oneshot};

/// Where permission requests wait.
pub(crate) struct Desk(mpsc::Receiver<Asked>);

/// A request that waits for its answer.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) request: CanUseTool,
    pub(crate) context: CallContext,
    answer: oneshot::Sender<PermissionResult>,
}

impl Desk {
    /// Options whose permission requests go to a desk.
    pub(crate) fn of(options: Options) -> (Options, Self) {
        let (asking, asked) = mpsc::channel(16);
        let options = options.can_use_tool(move |request, context| {
            let asking = asking.clone();
            async move {
                let (answer, answered) = oneshot::channel();
                let asked = Asked {
                    request,
                    context,
                    answer,
                };
                if asking.send(asked).await.is_err() {
                    return PermissionResult::deny("nobody is at the desk");
                }
                answered
                    .await
                    .unwrap_or_else(|_| PermissionResult::deny("nobody answered"))
            }
        });
        (options, Self(asked))
    }

    /// The next request.
    pub(crate) async fn next(&mut self) -> anyhow::Result<Asked> {
        self.0.recv().await.context("the session is over")
    }

    /// Whether no request waits now.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Asked {
    pub(crate) fn answer(self, result: PermissionResult) -> anyhow::Result<()> {
        let withdrawn = self.answer.send(result);
        withdrawn
            .ok()
            .context("the request was withdrawn before its answer")
    }

    pub(crate) fn allow(self) -> anyhow::Result<()> {
        let result = self.request.allow();
        self.answer(result)
    }

    /// Completes when the CLI no longer wants the answer: the token has fired and the callback is dropped.
    pub(crate) async fn withdrawn(mut self) {
        self.context.cancelled.cancelled().await;
        self.answer.closed().await;
    }
}
