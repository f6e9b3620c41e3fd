//! The rules of users: what they match, in which order they count, and what is no rule.

use estelle_state::policy::{
    Effect, Mode, ParseRuleError, Policy, Reason, Rule, RuleTexts, Scope, judge,
};
use serde_json::{Value, json};

use crate::policy::{bash, place, policy};

fn with(rules: &[(&str, Effect)]) -> Policy {
    let rules = rules.iter().filter_map(|(text, effect)| {
        let rule = Rule::parse(text, *effect, Scope::Workspace);
        assert!(rule.is_ok(), "{text} is a rule");
        rule.ok()
    });
    Policy {
        rules: rules.collect(),
        ..Policy::default()
    }
}

/// Whether a single allow rule lets the call pass, in default mode.
fn allows(rule: &str, tool: &str, input: &Value) -> bool {
    judge(&with(&[(rule, Effect::Allow)]), place(), tool, input).word() == "allow"
}

/// Whether a single deny rule refuses the call, in bypass with refusals first.
fn denies(rule: &str, tool: &str, input: &Value) -> bool {
    let policy = Policy {
        mode: Mode::BypassPermissions,
        deny_first: true,
        ..with(&[(rule, Effect::Deny)])
    };
    let verdict = judge(&policy, place(), tool, input);
    matches!(verdict.reason(), Reason::UserRule { .. }) && verdict.word() == "deny"
}

fn command(line: &str) -> Value {
    json!({ "command": line })
}

#[test]
fn allow_rules_for_commands_cover_the_whole_line() {
    let cases = [
        ("Bash(npm test)", "npm test", true),
        ("Bash(npm test)", "npm test x", false),
        ("Bash(git push:*)", "git push", true),
        ("Bash(git push:*)", "git push origin main", true),
        ("Bash(git push:*)", "git pushx", false),
        ("Bash(git push:*)", "git pull", false),
        ("Bash(npm run *)", "npm run build", true),
        ("Bash(npm run *)", "npm run", true),
        ("Bash(git * main)", "git push origin main", true),
        ("Bash(git * main)", "git push origin dev", false),
        ("Bash(ls:*)", "ls -la; ls", true),
        ("Bash(ls:*)", "ls; pwd", false),
        ("Bash(ls:*)", "ls && curl x", false),
        ("Bash(ls:*)", "ls | sh", false),
        ("Bash(ls:*)", "ls $(pwd)", false),
        ("Bash(ls:*)", "ls `pwd`", false),
        ("Bash(ls:*)", "ls > out", false),
        ("Bash(ls:*)", "ls > /dev/null 2>&1", true),
        ("Bash(ls:*)", "ls &", true),
        ("Bash(ls:*)", "ls $X", true),
        ("Bash(ls:*)", "sudo ls", false),
        ("Bash(ls:*)", "env ls", false),
        ("Bash(ls:*)", "bash -c ls", false),
        ("Bash(ls:*)", "/tmp/ls", false),
        ("Bash(ls:*)", "LS", false),
        ("Bash(ls:*)", "PATH=/tmp ls", false),
        ("Bash(ls:*)", "ls() { id; }; ls", false),
        ("Bash(ls:*)", "if ls; then ls; fi", true),
        ("Bash(ls:*)", "if ls; then pwd; fi", false),
        ("Bash(echo:*)", "echo \"a; b\"", true),
        ("Bash(echo:*)", "echo a\ncurl x", false),
        ("Bash(echo:*)", "echo a # ; curl x", true),
        ("Bash(echo:*)", "echo x > .env", false),
        ("Bash(python3 -c:*)", "python3 -c 'print(1)'", true),
        ("Bash(python3 script.py)", "python3 -c 'print(1)'", false),
        ("Bash", "ls; pwd", true),
        ("Bash", "$X", false),
        ("Bash", "rm -rf /", false),
        ("Bash(rm:*)", "rm -rf /", false),
        ("Bash(rm:*)", "rm -rf build", true),
        ("Bash(*)", "ls", true),
        ("Bash(*)", "echo \"", false),
    ];
    for (rule, line, is_allowed) in cases {
        assert_eq!(
            allows(rule, "Bash", &command(line)),
            is_allowed,
            "{rule} and `{line}`"
        );
    }
}

#[test]
fn several_allow_rules_cover_a_line_together() {
    let policy = with(&[("Bash(ls:*)", Effect::Allow), ("Bash(pwd)", Effect::Allow)]);
    assert_eq!(bash(&policy, "ls && pwd").word(), "allow");
    assert_eq!(bash(&policy, "ls && pwd && id").word(), "ask");
}

#[test]
fn s14_deny_rules_find_the_command_anywhere() {
    let lines = [
        "git push",
        "git push origin",
        "ls; git push",
        "ls && git push",
        "ls | git push",
        "(git push)",
        "sudo git push",
        "env git push",
        "bash -c 'git push'",
        "eval git push",
        "git -C x push",
        "git --no-pager push",
        "/usr/bin/git push",
        "'git' push",
        "g\\it push",
        "echo $(git push)",
        "if true; then git push; fi",
        "find . -exec git push {} +",
        "xargs git push",
        "nohup git push &",
        "A=git; $A push",
        "timeout 5 git push",
        "command git push",
    ];
    for line in lines {
        assert!(
            denies("Bash(git push:*)", "Bash", &command(line)),
            "`{line}`"
        );
    }
    for line in [
        "git pull",
        "echo git push",
        "git commit -m 'git push'",
        "git pushd",
        "# git push",
    ] {
        assert!(
            !denies("Bash(git push:*)", "Bash", &command(line)),
            "`{line}`"
        );
    }
    assert!(denies("Bash", "Bash", &command("ls")));
    assert!(
        denies("Bash", "Bash", &command("echo \"")),
        "the whole tool, parsed or not"
    );
}

#[test]
fn ask_rules_ask_when_a_command_can_be_meant() {
    let ask = Policy {
        mode: Mode::BypassPermissions,
        deny_first: true,
        ..with(&[("Bash(git push:*)", Effect::Ask)])
    };
    assert_eq!(bash(&ask, "git push").word(), "ask");
    assert_eq!(bash(&ask, "git $X").word(), "ask");
    assert_eq!(bash(&ask, "git pull").word(), "allow");
}

#[test]
fn path_rules_hold_for_tools_of_a_kind() {
    let file = |path: &str| json!({ "file_path": path });
    let cases = [
        ("Edit(src/**)", "Edit", "src/a/b.rs", true),
        ("Edit(src/**)", "Write", "src/b.rs", true),
        (
            "Edit(src/**)",
            "MultiEdit",
            "/home/user/project/src/b.rs",
            true,
        ),
        ("Edit(src/**)", "Edit", "src/../Cargo.toml", false),
        ("Edit(src/**)", "Edit", "src-other/x", false),
        ("Edit(src/**)", "Edit", "/tmp/src/x", false),
        ("Edit(./src/**)", "Edit", "src/x", true),
        ("Edit(src/*.rs)", "Edit", "src/a.rs", true),
        ("Edit(src/*.rs)", "Edit", "src/a/b.rs", false),
        ("Edit(*.md)", "Edit", "docs/deep/x.md", true),
        ("Edit(/tmp/**)", "Edit", "/tmp/x", true),
        ("Edit(//tmp/**)", "Edit", "/tmp/x", true),
        ("Edit(~/notes/**)", "Edit", "/home/user/notes/x", true),
        ("Edit(**)", "Edit", "anything/at/all", true),
        ("Edit(src/**)", "Read", "x", true),
        ("Read(src/**)", "Edit", "src/x", false),
        ("Edit(**)", "Edit", ".env", false),
        ("Edit(*)", "Edit", "link", false),
        ("Write(src/**)", "Edit", "src/x", true),
        ("Edit", "Edit", "x", true),
        ("Edit", "Write", "x", false),
    ];
    for (rule, tool, path, is_allowed) in cases {
        assert_eq!(
            allows(rule, tool, &file(path)),
            is_allowed,
            "{rule}, {tool} {path}"
        );
    }
    assert!(denies("Read(private/**)", "Read", &file("private/x")));
    assert!(denies(
        "Read(private/**)",
        "Grep",
        &json!({ "pattern": "x", "path": "private/deep" })
    ));
    assert!(denies("Read(*.key)", "Read", &file("a/b/c.key")));
    assert!(denies("Read(*.KEY)", "Read", &file("a/b/c.Key")));
}

#[test]
fn e13_path_rules_hold_for_command_lines_too() {
    assert!(denies(
        "Edit(src/**)",
        "Bash",
        &command("echo x > src/a.rs")
    ));
    assert!(denies(
        "Edit(src/**)",
        "Bash",
        &command("sed -i s/a/b/ src/a.rs")
    ));
    assert!(denies(
        "Edit(src/**)",
        "Bash",
        &command("cd src && tee a.rs")
    ));
    assert!(denies(
        "Read(private/**)",
        "Bash",
        &command("cat private/x")
    ));
    assert!(denies(
        "Read(private/**)",
        "Bash",
        &command("grep -r foo private/x")
    ));
    assert!(!denies("Edit(src/**)", "Bash", &command("cat src/a.rs")));
    assert!(!denies(
        "Read(private/**)",
        "Bash",
        &command("echo private/x")
    ));
}

#[test]
fn mcp_domains_agents_and_skills() {
    let nothing = json!({});
    assert!(allows("mcp__github__*", "mcp__github__get_issue", &nothing));
    assert!(allows("mcp__github", "mcp__github__get_issue", &nothing));
    assert!(allows(
        "mcp__github__get_*",
        "mcp__github__get_issue",
        &nothing
    ));
    assert!(!allows(
        "mcp__github__get_*",
        "mcp__github__delete",
        &nothing
    ));
    assert!(!allows("mcp__github", "mcp__githubevil__x", &nothing));
    assert!(!allows("mcp__github__*", "mcp__git__x", &nothing));
    assert!(allows("mcp__github__get", "mcp__github__get", &nothing));
    let domain = "WebFetch(domain:example.com)";
    let fetch = |url: &str| json!({ "url": url });
    assert!(denies(domain, "WebFetch", &fetch("https://example.com/x")));
    assert!(denies(
        domain,
        "WebFetch",
        &fetch("https://EXAMPLE.com:443")
    ));
    assert!(denies(
        domain,
        "WebFetch",
        &fetch("https://user@example.com/")
    ));
    assert!(
        !denies(domain, "WebFetch", &fetch("https://example.com.evil.com/")),
        "CVE-2026-24052"
    );
    assert!(!denies(
        domain,
        "WebFetch",
        &fetch("https://example.com@evil.com/")
    ));
    assert!(!denies(
        domain,
        "WebFetch",
        &fetch("https://evil.com/?https://example.com")
    ));
    assert!(denies(
        "WebFetch(domain:*.example.com)",
        "WebFetch",
        &fetch("https://a.example.com")
    ));
    assert!(allows(
        "Agent(Explore)",
        "Agent",
        &json!({ "subagent_type": "Explore" })
    ));
    assert!(allows(
        "Agent(Explore)",
        "Task",
        &json!({ "subagent_type": "Explore" })
    ));
    assert!(!allows(
        "Agent(Explore)",
        "Agent",
        &json!({ "subagent_type": "Other" })
    ));
    assert!(allows("Skill(pdf)", "Skill", &json!({ "skill": "pdf" })));
}

#[test]
fn order_among_rules_and_what_was_remembered() {
    let all = [
        ("Bash(ls:*)", Effect::Allow),
        ("Bash(ls:*)", Effect::Ask),
        ("Bash(ls:*)", Effect::Deny),
    ];
    assert_eq!(bash(&with(&all), "ls").word(), "deny");
    assert_eq!(bash(&with(&all[..2]), "ls").word(), "ask");
    assert_eq!(bash(&with(&all[..1]), "ls").word(), "allow");
    // C11: what was remembered comes before user rules, unless refusals come first.
    let mut remembering = with(&all);
    remembering.remembered.insert("Bash".to_owned());
    assert_eq!(bash(&remembering, "ls").word(), "allow");
    remembering.deny_first = true;
    assert_eq!(bash(&remembering, "ls").word(), "deny");
    remembering.rules.truncate(2);
    assert_eq!(bash(&remembering, "ls").word(), "ask");
    remembering.rules.truncate(1);
    assert!(matches!(
        bash(&remembering, "ls").reason(),
        Reason::Remembered { .. }
    ));
    // C10: deny patterns beat what was remembered, in both orders.
    assert_eq!(bash(&remembering, "rm -rf /").word(), "deny");
    remembering.deny_first = false;
    assert_eq!(bash(&remembering, "rm -rf /").word(), "deny");
    // It is remembered for the tool alone.
    assert_eq!(
        judge(&remembering, place(), "Edit", &json!({ "file_path": "x" })).word(),
        "ask"
    );
}

#[test]
fn rules_and_modes() {
    let deny = with(&[("Edit(src/**)", Effect::Deny)]);
    let edit = json!({ "file_path": "src/x" });
    let plain = Policy {
        mode: Mode::AcceptEdits,
        ..deny.clone()
    };
    assert_eq!(
        judge(&plain, place(), "Edit", &edit).word(),
        "allow",
        "modes come first"
    );
    let strict = Policy {
        mode: Mode::BypassPermissions,
        deny_first: true,
        ..deny
    };
    assert_eq!(judge(&strict, place(), "Edit", &edit).word(), "deny", "I11");
}

#[test]
fn the_lists_can_be_changed() {
    let mut own = policy(Mode::BypassPermissions, true);
    own.patterns.commands = vec!["terraform destroy:*".to_owned()];
    own.patterns.protected = vec!["*.lock".to_owned()];
    assert_eq!(bash(&own, "terraform destroy -auto-approve").word(), "deny");
    assert_eq!(bash(&own, "sudo terraform destroy").word(), "deny");
    assert_eq!(bash(&own, "terraform plan").word(), "allow");
    assert_eq!(bash(&own, "shutdown now").word(), "allow");
    assert_eq!(
        bash(&own, "rm -rf /").word(),
        "deny",
        "judged by its effect"
    );
    assert_eq!(bash(&own, "echo x > Cargo.lock").word(), "deny");
    own.patterns.judge_effects = false;
    assert_eq!(bash(&own, "rm -rf /x").word(), "allow");
}

#[test]
fn reasons_name_what_decided() {
    let policy = with(&[("Bash(git push:*)", Effect::Deny)]);
    assert_eq!(
        bash(&policy, "git push").reason().to_string(),
        "the workspace rule `Bash(git push:*)` decides"
    );
    let reason = bash(&policy, "sudo shutdown now").reason().to_string();
    assert_eq!(
        reason,
        "Dangerous command: `shutdown now` matches the deny pattern `shutdown:*`"
    );
    // P18: who is asked about a link learns what it stands for.
    let linked = judge(
        &policy,
        place(),
        "Edit",
        &json!({ "file_path": "harmless" }),
    );
    assert_eq!(
        linked.reason().to_string(),
        "no mode, list or rule decides about Edit; the file really is `/home/user/project/README.md`"
    );
    let verdict = judge(&policy, place(), "Edit", &json!({ "file_path": ".env" }));
    assert_eq!(
        verdict.reason().to_string(),
        "Protected file: `/home/user/project/.env` matches the deny pattern `*.env`"
    );
}

#[test]
fn what_is_no_rule_says_what_to_do() {
    let parse = |text: &str| Rule::parse(text, Effect::Allow, Scope::Global).expect_err(text);
    assert_eq!(parse("  "), ParseRuleError::Empty);
    assert_eq!(parse("Bash("), ParseRuleError::Unclosed("Bash(".to_owned()));
    assert_eq!(
        parse("Bash(x) y"),
        ParseRuleError::Unclosed("Bash(x) y".to_owned())
    );
    assert_eq!(
        parse("Bash()"),
        ParseRuleError::EmptyPattern("Bash()".to_owned())
    );
    assert_eq!(parse("(x)"), ParseRuleError::BadName("(x)".to_owned()));
    assert_eq!(
        parse("Bash *"),
        ParseRuleError::BadName("Bash *".to_owned())
    );
    assert_eq!(parse("*"), ParseRuleError::BadName("*".to_owned()));
    assert_eq!(
        parse("Rеad"),
        ParseRuleError::BadName("Rеad".to_owned()),
        "a Cyrillic letter"
    );
    assert_eq!(
        parse("TodoWrite(x)"),
        ParseRuleError::NoPattern("TodoWrite(x)".to_owned())
    );
    assert_eq!(
        parse("mcp__a__b(x)"),
        ParseRuleError::NoPattern("mcp__a__b(x)".to_owned())
    );
    assert_eq!(
        parse("WebFetch(example.com)"),
        ParseRuleError::BadDomain("WebFetch(example.com)".to_owned())
    );
    assert!(
        parse("Bash()")
            .to_string()
            .contains("leave the parentheses out")
    );
    let texts = RuleTexts {
        deny: vec!["Bash(".to_owned()],
        ..RuleTexts::default()
    };
    assert!(texts.parse(Scope::Global).is_err());
}
