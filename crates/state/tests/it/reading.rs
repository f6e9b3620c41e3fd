//! Conversations that may only read: neither modes nor rules lift it, and reading works as everywhere.

use estelle_state::policy::{Effect, Mode, Policy, Reason, Rule, Scope, Verdict, judge};
use serde_json::{Value, json};

use crate::policy::{bash, place};

/// Everything is allowed, as far as modes, rules and answers go.
fn generous(deny_first: bool) -> Policy {
    let rule = |text| Rule::parse(text, Effect::Allow, Scope::Global).expect("it is a rule");
    let tools = [
        "Bash",
        "Edit",
        "Write",
        "NotebookEdit",
        "MultiEdit",
        "mcp__x__y",
    ];
    Policy {
        mode: Mode::BypassPermissions,
        deny_first,
        rules: tools.map(rule).into(),
        remembered: tools.map(str::to_owned).into(),
        read_only: true,
        own_tools: ["mcp__estelle__task_create".to_owned()].into(),
        ..Policy::default()
    }
}

fn tool(policy: &Policy, tool: &str, input: &Value) -> Verdict {
    judge(policy, place(), tool, input)
}

fn is_refused(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Deny(Reason::ReadOnly { .. }))
}

#[test]
fn nothing_that_could_write_is_allowed_by_anybody() {
    for deny_first in [false, true] {
        let policy = generous(deny_first);
        for editor in ["Edit", "Write", "MultiEdit", "NotebookEdit", "SomethingNew"] {
            let verdict = tool(&policy, editor, &json!({"file_path": "/home/u/proj/a.txt"}));
            assert!(is_refused(&verdict), "{editor}: {verdict:?}");
        }
        for line in [
            "touch a",
            "echo x > a",
            "ls >> a",
            "ls | tee a",
            "cat a && rm b",
            "$(echo rm) a",
            "eval ls",
            "python -c 'print(1)'",
            "npm test",
            "./ls",
            "/home/u/proj/ls",
            "find . -delete",
            "find . -exec rm {} ;",
            "git commit -m x",
            "git -c core.pager=sh log",
            "git diff --output=a",
            "git log --output a",
            "git log --outp=a",
            "git show --ext",
            "file -C -m a",
            "file -bC -m a",
            "file --compile -m a",
            "rg --pre ./run x",
            "sed -i s/a/b/ a",
            "sort -o a a",
            "PATH=. ls",
            "ls() { rm a; }; ls",
            "sudo ls",
            "sh -c ls",
            "cat <(rm a)",
            "",
        ] {
            let verdict = bash(&policy, line);
            assert!(matches!(verdict, Verdict::Deny(_)), "{line}: {verdict:?}");
        }
    }
}

#[test]
fn what_only_reads_is_judged_as_everywhere() {
    for deny_first in [false, true] {
        let policy = generous(deny_first);
        for line in [
            "ls -la src",
            "cat a.txt | head -5",
            "grep -rn parser src 2>/dev/null",
            "find . -name '*.rs'",
            "rg parser",
            "git log --oneline -5",
            "file -b a.txt",
            "git diff HEAD~1 -- src",
            "cd src && ls",
            "wc -l a b; pwd",
        ] {
            let verdict = bash(&policy, line);
            assert!(matches!(verdict, Verdict::Allow(_)), "{line}: {verdict:?}");
        }
        let read = tool(&policy, "Read", &json!({"file_path": "/home/u/proj/a.txt"}));
        assert!(matches!(read, Verdict::Allow(_)), "{read:?}");
        let foreign = tool(&policy, "mcp__x__y", &json!({}));
        assert!(matches!(foreign, Verdict::Ask(_)), "{foreign:?}");
        let own = tool(&policy, "mcp__estelle__task_create", &json!({}));
        assert!(matches!(own, Verdict::Allow(_)), "{own:?}");
        let other = tool(&policy, "mcp__estelle__other", &json!({}));
        assert!(matches!(other, Verdict::Ask(_)), "{other:?}");
    }
    let strict = Policy {
        mode: Mode::Default,
        rules: Vec::new(),
        remembered: std::collections::BTreeSet::new(),
        ..generous(true)
    };
    let asked = bash(&strict, "ls");
    assert!(matches!(asked, Verdict::Ask(_)), "{asked:?}");
}
