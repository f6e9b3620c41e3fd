//! Trying what would become of a call: the same judgement that the agent's own calls get, and nothing runs.

use std::collections::BTreeSet;

use estelle_proto::WorkspaceId;
use estelle_proto::ipc::{CallVerdict, GetRules, RuleEffect, TriedCall};
use estelle_state::policy::Verdict;

use super::Host;
use crate::conversation::Case;
use crate::ipc::Done;

impl Host {
    /// The rules, and the verdict on a call if one was brought.
    pub(super) fn try_out(&self, asked: &GetRules) -> Done {
        let workspace = asked.workspace_id.as_ref();
        let mut done = self.rules(workspace);
        let attempt = asked.attempt.as_ref();
        let verdict = attempt.map(|call| self.verdict(workspace, call));
        if let Some(list) = &mut done.rules {
            list.verdict = verdict;
        }
        done
    }

    fn verdict(&self, workspace: Option<&WorkspaceId>, call: &TriedCall) -> CallVerdict {
        let home = self.context.settings.home.as_deref();
        let home = home.and_then(|path| path.to_str()).unwrap_or("/");
        let case = Case {
            workspace,
            cwd: call.working_dir.as_ref().map_or(home, |path| path.as_str()),
            mode: call.mode.as_ref(),
            remembered: BTreeSet::new(),
            messages: Vec::new(),
            read_only: false,
            own_tools: BTreeSet::new(),
        };
        let verdict = match case.judge(&self.context, &call.tool_name, &call.input) {
            Ok(verdict) => verdict,
            Err(reason) => return CallVerdict::new(RuleEffect::Ask, reason),
        };
        let effect = match &verdict {
            Verdict::Allow(_) => RuleEffect::Allow,
            Verdict::Deny(_) => RuleEffect::Deny,
            Verdict::Ask(_) => RuleEffect::Ask,
        };
        let reason = verdict.reason();
        CallVerdict {
            why: Some(reason.into()),
            ..CallVerdict::new(effect, reason.to_string())
        }
    }
}
