//! A place to run a real CLI in, and short words for what a test asks of a session.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use estelle_claude::options::{Environment, Options};
use estelle_claude::wire::{Content, ResultMessage, SystemMessage, UserMessage};
use estelle_claude::{Body, Message, Session};
use estelle_sim::api::{Config, FakeApi, Kind, RealCli, Request};
use serde_json::Value;
use tempfile::TempDir;

/// The time a scenario has; a start takes about a second when the machine is free.
const LIMIT: Duration = Duration::from_mins(1);

/// Runs a scenario within its time.
pub(crate) async fn in_time(
    scenario: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    tokio::time::timeout(LIMIT, scenario)
        .await
        .context("the scenario did not end in time")?
}

/// A real CLI, the API it talks to, its home and its working directory.
pub(crate) struct Stage {
    pub(crate) api: FakeApi,
    pub(crate) cli: RealCli,
    pub(crate) home: TempDir,
    pub(crate) work: TempDir,
}

impl Stage {
    pub(crate) async fn v197() -> anyhow::Result<Self> {
        Self::of(RealCli::v197()?).await
    }

    pub(crate) async fn v325() -> anyhow::Result<Self> {
        Self::of(RealCli::v325()?).await
    }

    async fn of(cli: RealCli) -> anyhow::Result<Self> {
        Ok(Self {
            api: FakeApi::start(Config::default()).await?,
            cli,
            home: tempfile::tempdir()?,
            work: tempfile::tempdir()?,
        })
    }

    /// Whether this is the older of the two versions.
    pub(crate) fn is_old(&self) -> bool {
        self.cli.version() == "2.1.197"
    }

    /// A path in the working directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    /// What a file in the working directory holds, if it is there.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    /// Options with this CLI, in its own directories and with a clean environment.
    pub(crate) fn options(&self) -> Options {
        self.options_with_env(&[])
    }

    pub(crate) fn options_with_env(&self, more: &[(&str, &str)]) -> Options {
        let mut variables: BTreeMap<String, String> =
            self.cli.env(self.home.path(), self.api.url());
        variables.extend(
            more.iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        let environment = variables
            .into_iter()
            .fold(Environment::clean(), |environment, (name, value)| {
                environment.set(name, value)
            });
        Options::new()
            .path_to_claude_code_executable(self.cli.path())
            .cwd(self.work.path())
            .environment(environment)
            .load_timeout(Duration::from_secs(50))
    }

    /// Starts a session.
    pub(crate) async fn start(&self, options: Options) -> anyhow::Result<Session> {
        Ok(Session::start(options).await?)
    }

    /// The bodies of the requests for main turns and sub-agents, oldest first.
    pub(crate) fn turns(&self) -> Vec<Arc<Value>> {
        self.api
            .requests()
            .into_iter()
            .filter(|request| request.kind == Some(Kind::Turn))
            .filter_map(|request| request.body)
            .collect()
    }

    /// The newest request for a turn.
    pub(crate) fn newest(&self) -> anyhow::Result<Arc<Value>> {
        self.turns().pop().context("no request was made")
    }

    /// The conversation of the newest request, as text.
    pub(crate) fn history(&self) -> anyhow::Result<String> {
        Ok(self.newest()?["messages"].to_string())
    }

    /// Waits for a request for a turn whose body contains this text.
    pub(crate) async fn request_with(&self, text: &str) -> Request {
        self.api
            .wait_for_request(|request| {
                request.kind == Some(Kind::Turn)
                    && request
                        .body
                        .as_ref()
                        .is_some_and(|body| body.to_string().contains(text))
            })
            .await
    }
}

/// The messages of one turn.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) messages: Vec<Message>,
    pub(crate) result: ResultMessage,
}

impl Told {
    /// The final text.
    pub(crate) fn text(&self) -> String {
        self.result.text()
    }

    /// The tool results of the turn with whether each is an error.
    pub(crate) fn tool_results(&self) -> Vec<(String, bool)> {
        self.messages
            .iter()
            .filter_map(|message| match &message.body {
                Body::User(user) => Some(user.message.content.blocks()),
                _ => None,
            })
            .flatten()
            .filter_map(|block| block.as_tool_result())
            .map(|result| {
                let text = result.content.as_ref().map(Content::text);
                (
                    text.unwrap_or_default(),
                    result.is_error.unwrap_or_default(),
                )
            })
            .collect()
    }

    /// The only tool result of the turn.
    pub(crate) fn tool_result(&self) -> anyhow::Result<(String, bool)> {
        let mut results = self.tool_results();
        ensure!(results.len() == 1, "{} tool results", results.len());
        results.pop().context("a tool result")
    }

    /// The system messages of the turn.
    pub(crate) fn system(&self) -> impl Iterator<Item = &SystemMessage> {
        self.messages
            .iter()
            .filter_map(|message| match &message.body {
                Body::System(system) => Some(system),
                _ => None,
            })
    }

    /// The session id of the turn's `init`.
    pub(crate) fn session_id(&self) -> anyhow::Result<String> {
        self.system()
            .find_map(|system| match system {
                SystemMessage::Init(init) => Some(init.session_id.clone()),
                _ => None,
            })
            .context("the turn has no init")
    }
}

/// The next message, which must be one the SDK can read whole.
pub(crate) async fn next(session: &mut Session) -> anyhow::Result<Message> {
    let message = session.next().await.context("the stream ended")??;
    check(&message)?;
    Ok(message)
}

/// Fails for a message that is not typed to its last field.
pub(crate) fn check(message: &Message) -> anyhow::Result<()> {
    ensure!(message.kind().is_known(), "not known: {}", message.line);
    ensure!(
        message.diagnostics.is_empty(),
        "{:?} in {}",
        message.diagnostics,
        message.line
    );
    Ok(())
}

/// Reads on until a message says what is wanted.
pub(crate) async fn until<T>(
    session: &mut Session,
    wanted: impl Fn(&Message) -> Option<T>,
) -> anyhow::Result<T> {
    loop {
        let message = next(session).await?;
        if let Some(found) = wanted(&message) {
            return Ok(found);
        }
    }
}

/// Reads on until this text is streamed.
pub(crate) async fn until_streamed(session: &mut Session, text: &str) -> anyhow::Result<()> {
    until(session, |message| match &message.body {
        Body::StreamEvent(event) => (event.text_delta() == Some(text)).then_some(()),
        _ => None,
    })
    .await
}

/// Reads to the next result.
pub(crate) async fn turn(session: &mut Session) -> anyhow::Result<Told> {
    let mut messages = Vec::new();
    loop {
        let message = next(session).await?;
        let result = match &message.body {
            Body::Result(result) => Some(result.clone()),
            _ => None,
        };
        messages.push(message);
        if let Some(result) = result {
            return Ok(Told { messages, result });
        }
        if messages.len() > 10_000 {
            bail!("a turn without an end");
        }
    }
}

/// Sends a prompt and reads to its result.
pub(crate) async fn ask(
    session: &mut Session,
    prompt: impl Into<UserMessage>,
) -> anyhow::Result<Told> {
    session.send(prompt).await?;
    turn(session).await
}
