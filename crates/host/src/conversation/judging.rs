//! Deciding about what the CLI asks: by the policy, or by putting it to people.
//!
//! **Invariant:** a verdict is in the log before it is sent, and is never made again.

use std::collections::BTreeSet;

use estelle_proto::decisions::DecisionKind;
use estelle_proto::events::{ClaudeEvent, ErrorEvent};
use estelle_proto::{Json, PermissionMode, ToolUseId, WorkspaceId};
use estelle_state::conversation::{Request, Settings, Shown, Verdict as Noted};
use estelle_state::decisions::{Answered, DecisionKey};
use estelle_state::policy::{Mode, Place, Policy, Verdict, judge, judge_unreadable};
use serde_json::{Value, json};

use super::actor::{Actor, Broken, now};
use super::context::Context;
use super::running::Phase;
use crate::links;
use crate::log::Sync;
use crate::rules::InForce;
use crate::translate::lines;
use crate::trust::{self, FolderContents};

/// The name under which trust is asked for.
pub(super) const TRUST: &str = "TrustFolder";

/// What the agent hears when an allow, which repeats the whole input, does not fit the pipe.
const TOO_LARGE: &str =
    "The input of this call is larger than can be approved; do it in smaller pieces";

/// Where and under what a call would be made.
pub(crate) struct Case<'a> {
    pub(crate) workspace: Option<&'a WorkspaceId>,
    pub(crate) cwd: &'a str,
    /// Absent means the default of the machine.
    pub(crate) mode: Option<&'a PermissionMode>,
    /// Tools that a person has allowed for the conversation.
    pub(crate) remembered: BTreeSet<String>,
    /// Files with messages of the user to the process that asks.
    pub(crate) messages: Vec<String>,
    /// Whether the agent may only read.
    pub(crate) read_only: bool,
    /// Tools of a client that the agent calls unasked.
    pub(crate) own_tools: BTreeSet<String>,
}

impl Case<'_> {
    /// The policy's verdict, or why a person must be asked without it.
    pub(crate) fn judge(
        self,
        context: &Context,
        tool: &str,
        input: &Json,
    ) -> Result<Verdict, String> {
        let settings = &context.settings;
        let rules = match context.rules().in_force(self.workspace) {
            InForce::Rules(rules) => rules,
            InForce::AskEverything(damaged) => return Err(damaged.to_string()),
        };
        let policy = Policy {
            mode: mode(self.mode.unwrap_or(&context.default_mode())),
            deny_first: settings.deny_first,
            remembered: self.remembered,
            rules,
            patterns: settings.patterns.clone(),
            read_only: self.read_only,
            own_tools: self.own_tools,
        };
        let home = settings.home.as_ref().map(|path| path.to_string_lossy());
        let data = settings.data.to_string_lossy();
        let place = Place {
            cwd: self.cwd,
            home: home.as_deref(),
            data_folder: Some(&data),
            messages: &self.messages,
            resolve: &|path| links::follow(path, self.cwd),
            twins: &|_| Vec::new(),
        };
        let twins = |path: &str| links::twins(path, &place.vicinity(path));
        let place = Place {
            twins: &twins,
            ..place
        };
        // An input that cannot be read may name anything: taking it for an empty one would let it pass.
        Ok(match input.decode() {
            Ok(input) => judge(&policy, place, tool, &input),
            Err(_) => judge_unreadable(&policy, place, tool),
        })
    }
}

impl Actor {
    /// Decides about a request that nobody has judged.
    pub(super) async fn judge(&mut self, key: &DecisionKey) -> Result<(), Broken> {
        let Some(pending) = self.book.conversation().pending(key) else {
            return Ok(());
        };
        let request = pending.request.clone();
        if self.kill_reconfigured().await? {
            return Ok(());
        }
        let verdict = match self.verdict(&request) {
            Ok(verdict) => verdict,
            Err(reason) => return self.show(key, reason.into()).await,
        };
        let (line, noted) = match &verdict {
            Verdict::Allow(reason) => {
                let line = lines::allow(&request)?;
                if lines::fits(&line) {
                    (line, note("allow", reason))
                } else {
                    (lines::deny(&request, TOO_LARGE)?, note("deny", &TOO_LARGE))
                }
            }
            Verdict::Deny(reason) => {
                let reason = reason.to_string();
                (lines::deny(&request, &reason)?, note("deny", &reason))
            }
            Verdict::Ask(reason) => {
                let shown = Shown {
                    reason: reason.to_string(),
                    why: Some(Box::new(reason.into())),
                };
                return self.show(key, shown).await;
            }
        };
        if let Some(entry) = self.book.decide().judged(now(), key, noted, line) {
            self.record(entry, Sync::Now).await?;
        }
        Ok(())
    }

    /// What people are shown is on the disk first, with everything before it: they act on it.
    async fn show(&mut self, key: &DecisionKey, shown: Shown) -> Result<(), Broken> {
        if let Some(entry) = self.book.decide().show(now(), key, shown) {
            self.record(entry, Sync::Now).await?;
        }
        Ok(())
    }

    /// The policy's verdict, or why a person must be asked without it.
    fn verdict(&self, request: &Request) -> Result<Verdict, String> {
        if request.kind != DecisionKind::Permission {
            return Err("only a person can answer this".to_owned());
        }
        let Some(cwd) = self.working_folder() else {
            return Err("it is not known in which folder the agent works".to_owned());
        };
        let conversation = self.book.conversation();
        let own = conversation.settings();
        let case = Case {
            workspace: own.workspace_id.as_ref(),
            cwd,
            mode: own.mode.as_ref(),
            remembered: conversation.remembered(),
            messages: self.message_files(),
            read_only: own.read_only == Some(true),
            own_tools: own_tools(own),
        };
        case.judge(&self.context, &request.tool_name, &request.input)
    }

    /// Where the process works that asks. A message may have named another folder since, for the next process.
    fn working_folder(&self) -> Option<&str> {
        match &self.phase {
            Phase::Live(live) => live.cwd.as_deref()?.to_str(),
            Phase::Quiet | Phase::Preparing(_) | Phase::Spawning(_) | Phase::Sweeping(_) => None,
        }
    }

    /// Asks people whether what a folder brings may be loaded.
    pub(super) async fn ask_for_trust(&mut self, mut request: Request) -> Result<(), Broken> {
        let conversation = self.book.conversation();
        let is_same = |asked: &Request| {
            asked.kind == DecisionKind::Trust && asked.input_hash == request.input_hash
        };
        if conversation
            .shown()
            .any(|(_, pending)| is_same(&pending.request))
        {
            return Ok(());
        }
        // These contents were asked about before, and the answer did not come to count: this is another question.
        if conversation.find_decision(&request.tool_use_id).is_ok() {
            let generation = conversation.last_generation().0;
            let id = format!("{}_{generation}", request.tool_use_id);
            request.tool_use_id = ToolUseId::parse(&id).unwrap_or(request.tool_use_id);
            request.request_id = id;
        }
        let reason =
            "this folder brings settings, hooks or tool servers that would run on this machine";
        let entries = self.book.decide().ask(now(), request, reason.to_owned());
        self.record_all(entries).await
    }

    /// Acts on an answer to a question of our own: trust is written down where all conversations find it.
    pub(super) async fn act(&mut self, key: &DecisionKey) -> Result<(), Broken> {
        let answer = self.book.conversation().ledger().get(key);
        let answer = answer.and_then(|decision| decision.answer.clone());
        if let Some(answer) = answer
            && let Ok(trusted) = serde_json::from_str::<TrustAnswer>(&answer.line)
            && let Err(why) = self.trust(&trusted, &answer)
        {
            self.tell_unwritten(why).await?;
        }
        if let Some(entry) = self.book.decide().acted(now(), key) {
            self.record(entry, Sync::Now).await?;
        }
        self.end_trusted().await
    }

    /// An answer that does not count is no secret: who gave it hears why, and is asked again at the next start.
    async fn tell_unwritten(&mut self, why: String) -> Result<(), Broken> {
        tracing::warn!(%why, "an answer about trust does not count");
        let event = ClaudeEvent::Error(ErrorEvent::new(why.clone()));
        let entry = self.book.decide().repair(now(), why, vec![event]);
        self.record(entry, Sync::Now).await
    }

    /// What was answered counts only for the contents that were shown; others are asked about at the next start.
    fn trust(&self, trusted: &TrustAnswer, answer: &Answered) -> Result<(), String> {
        let home = self.context.settings.home.as_deref();
        let folder = &trusted.folder;
        let contents = trust::scan(std::path::Path::new(folder), home)
            .map_err(|error| format!("the answer about {folder} does not count: {error}"))?;
        if contents.hash.as_str() != trusted.hash {
            return Err(format!(
                "what {folder} brings has changed since it was shown, so the answer does not count: it is asked again \
                 when the agent is started next"
            ));
        }
        let noted = trust::Answered {
            verdict: if trusted.allow {
                trust::Verdict::Allowed
            } else {
                trust::Verdict::Denied
            },
            by: answer
                .by
                .map_or_else(|| "unknown".to_owned(), |by| format!("device {}", by.0)),
            at: answer.at,
        };
        self.context.trust().record(&contents, noted).map_err(|error| {
            let reason = match error {
                trust::RecordError::Untrustable(problem) => problem.to_string(),
                trust::RecordError::Write(error) => error.kind().to_string(),
            };
            format!(
                "the answer about {folder} could not be written down ({reason}): nothing of the folder is loaded, and \
                 it is asked again when the agent is started next"
            )
        })
    }
}

/// The tools of a client that a conversation may call unasked: those that were given to an agent which may only read.
fn own_tools(own: &Settings) -> BTreeSet<String> {
    let server = own
        .tool_server
        .as_ref()
        .filter(|_| own.read_only == Some(true));
    let named = server.iter().flat_map(|server| {
        let tools = server.tools.iter();
        tools.map(|tool| format!("mcp__{}__{}", server.name, tool.name))
    });
    named.collect()
}

fn note(verdict: &str, reason: &impl std::fmt::Display) -> Noted {
    Noted {
        verdict: verdict.to_owned(),
        reason: reason.to_string(),
    }
}

/// The mode of the policy; an unknown one is the strictest.
pub(super) fn mode(mode: &PermissionMode) -> Mode {
    match mode {
        PermissionMode::AcceptEdits => Mode::AcceptEdits,
        PermissionMode::BypassPermissions => Mode::BypassPermissions,
        PermissionMode::Plan => Mode::Plan,
        PermissionMode::Default | PermissionMode::Unknown(_) => Mode::Default,
    }
}

/// What is kept as the answer to a question about trust.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct TrustAnswer {
    pub(super) folder: String,
    pub(super) hash: String,
    pub(super) allow: bool,
}

/// The question about what a folder brings.
pub(super) fn trust_request(contents: &FolderContents) -> Option<Request> {
    let items: Vec<Value> = contents
        .items
        .iter()
        .map(|item| json!({ "file": item.file, "effects": item.effects }))
        .collect();
    let hash = contents.hash.as_str();
    let input = json!({ "folder": contents.folder, "hash": hash, "items": items });
    let id = format!("trust_{hash}");
    Some(Request {
        request_id: id.clone(),
        tool_use_id: ToolUseId::parse(&id).ok()?,
        kind: DecisionKind::Trust,
        tool_name: TRUST.to_owned(),
        input: Json::of(&input).ok()?,
        input_hash: hash.to_owned(),
        questions: Vec::new(),
        parent_tool_use_id: None,
    })
}
