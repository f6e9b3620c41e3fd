//! Tables of calls with the verdicts they get. The headings name the attack cases that a table covers.

use estelle_state::policy::{
    Doubt, Effect, Mode, Place, Policy, Reason, Rule, Scope, Verdict, judge, judge_unreadable,
};
use serde_json::{Value, json};

/// Where all calls of the tables happen.
pub(crate) fn place() -> Place<'static> {
    Place {
        cwd: "/home/user/project",
        home: Some("/home/user"),
        data_folder: Some("/home/user/.local/share/estelle"),
        messages: &[],
        resolve: &|path| match path {
            "/home/user/project/link" => Some("/home/user/project/.env".to_owned()),
            "/home/user/project/data" => Some("/home/user/.local/share/estelle/log".to_owned()),
            "/home/user/project/input" => Some("/proc/self/fd/0".to_owned()),
            "/home/user/project/top" => Some("/".to_owned()),
            "/home/user/project/harmless" => Some("/home/user/project/README.md".to_owned()),
            _ => in_linked_folder(path),
        },
        twins: &|path| match path {
            "/home/user/project/twin" => vec!["/home/user/project/.env".to_owned()],
            "/home/user/project/key" => vec!["/home/user/.ssh/id_ed25519".to_owned()],
            "/home/user/project/ours" => {
                vec!["/home/user/.local/share/estelle/rules.json".to_owned()]
            }
            "/home/user/project/shared" => vec!["/home/user/project/copy.txt".to_owned()],
            _ => Vec::new(),
        },
    }
}

/// `folder` is a link into the data folder; `..` behind it leaves the target.
fn in_linked_folder(path: &str) -> Option<String> {
    let below = path.strip_prefix("/home/user/project/folder")?;
    let data = "/home/user/.local/share/estelle";
    Some(match below.strip_prefix("/..") {
        Some(rest) => format!("{data}{rest}"),
        None => format!("{data}/runs{below}"),
    })
}

pub(crate) fn policy(mode: Mode, deny_first: bool) -> Policy {
    Policy {
        mode,
        deny_first,
        ..Policy::default()
    }
}

pub(crate) fn bash(policy: &Policy, command: &str) -> Verdict {
    judge(policy, place(), "Bash", &json!({ "command": command }))
}

/// The lines of a table with the heading they stand under; `\n` in a line is a line feed.
fn rows(table: &str) -> Vec<(String, String)> {
    let mut heading = String::new();
    let mut rows = Vec::new();
    for line in table.lines().skip(1).filter(|line| !line.is_empty()) {
        let name = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        match name.filter(|name| name.contains(' ') && !name.starts_with('[')) {
            Some(name) => name.clone_into(&mut heading),
            None => rows.push((
                heading.clone(),
                if line.contains("{\"") {
                    line.to_owned()
                } else {
                    line.replace("\\n", "\n")
                },
            )),
        }
    }
    assert!(rows.len() > 20, "the table has been read");
    rows
}

/// Collects every row that is wrong, so that one run shows them all.
fn check_all(table: &str, check: impl Fn(&str) -> Result<(), String>) {
    let wrong: Vec<String> = rows(table)
        .iter()
        .filter_map(|(heading, row)| {
            check(row)
                .err()
                .map(|error| format!("{heading}: `{row}`: {error}"))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn expect(what: &str, verdict: &Verdict, is_right: bool) -> Result<(), String> {
    if is_right {
        Ok(())
    } else {
        Err(format!("{what}: {} ({})", verdict.word(), verdict.reason()))
    }
}

#[test]
fn dangerous_commands_are_refused() {
    check_all(include_str!("cases/refused.txt"), |row| {
        for (mode, deny_first) in [
            (Mode::Default, false),
            (Mode::Default, true),
            (Mode::BypassPermissions, true),
            (Mode::AcceptEdits, true),
        ] {
            let verdict = bash(&policy(mode, deny_first), row);
            let is_right = matches!(verdict, Verdict::Deny(Reason::DangerousCommand { .. }));
            expect(&format!("{mode} {deny_first}"), &verdict, is_right)?;
        }
        let literal = bash(&policy(Mode::BypassPermissions, false), row);
        expect(
            "bypass comes first",
            &literal,
            matches!(literal, Verdict::Allow(Reason::Mode { .. })),
        )
    });
}

#[test]
fn what_cannot_be_judged_is_asked() {
    check_all(include_str!("cases/doubted.txt"), |row| {
        for (mode, deny_first) in [(Mode::Default, false), (Mode::BypassPermissions, true)] {
            let verdict = bash(&policy(mode, deny_first), row);
            let is_right = matches!(verdict, Verdict::Ask(Reason::Unclear { .. }));
            expect(&format!("{mode} {deny_first}"), &verdict, is_right)?;
        }
        // An allowance for the whole tool does not cover what nobody can see.
        let mut remembered = policy(Mode::Default, false);
        remembered.remembered.insert("Bash".to_owned());
        let verdict = bash(&remembered, row);
        expect("remembered", &verdict, verdict.word() == "ask")
    });
}

#[test]
fn harmless_look_alikes_are_left_alone() {
    check_all(include_str!("cases/harmless.txt"), |row| {
        let verdict = bash(&policy(Mode::BypassPermissions, true), row);
        expect(
            "bypass",
            &verdict,
            matches!(verdict, Verdict::Allow(Reason::Mode { .. })),
        )?;
        let verdict = bash(&policy(Mode::Default, false), row);
        expect(
            "default",
            &verdict,
            matches!(verdict, Verdict::Ask(Reason::NoRule { .. })),
        )
    });
}

#[test]
fn with_accepted_edits_and_refusals_first_dangers_stop_and_daily_work_goes_on() {
    let policy = policy(Mode::AcceptEdits, true);
    let judged = |table: &str| -> Vec<(String, Verdict)> {
        let rows = rows(table).into_iter().map(|(_, row)| row);
        rows.map(|row| (row.clone(), bash(&policy, &row))).collect()
    };
    let mut dangers = judged(include_str!("cases/doubted.txt"));
    dangers.extend(judged(include_str!("cases/refused.txt")));
    assert!(dangers.len() >= 200, "{} lines", dangers.len());
    let passed: Vec<_> = dangers
        .iter()
        .filter(|(_, verdict)| verdict.word() == "allow")
        .collect();
    assert!(passed.is_empty(), "{passed:#?}");
    let daily = judged(include_str!("cases/harmless.txt"));
    assert!(daily.len() >= 300, "{} lines", daily.len());
    let held: Vec<_> = daily
        .iter()
        .filter(|(_, verdict)| verdict.word() != "allow")
        .collect();
    assert!(held.len() * 100 <= daily.len(), "{held:#?}");
}

/// The table above was made with the guard in view; this one was not, so what is asked about is counted, not mended away.
#[test]
fn of_ordinary_work_that_was_written_down_elsewhere_hardly_any_is_asked_about() {
    let policy = policy(Mode::AcceptEdits, true);
    let rows = rows(include_str!("cases/daily.txt"));
    assert!(rows.len() >= 250, "{} lines", rows.len());
    let judged = rows.iter().map(|(_, row)| (row, bash(&policy, row)));
    let held: Vec<_> = judged
        .filter(|(_, verdict)| verdict.word() != "allow")
        .collect();
    assert!(held.len() * 100 <= rows.len(), "{held:#?}");
}

#[test]
fn an_input_that_cannot_be_read_is_never_allowed_by_mode_list_or_rule() {
    let allowing = |tool: &str| {
        let rule = Rule::parse(tool, Effect::Allow, Scope::Global);
        vec![rule.unwrap()]
    };
    for mode in [
        Mode::Default,
        Mode::AcceptEdits,
        Mode::BypassPermissions,
        Mode::Plan,
    ] {
        for deny_first in [false, true] {
            for tool in [
                "Read",
                "Grep",
                "Glob",
                "Write",
                "Edit",
                "Bash",
                "TodoWrite",
                "mcp__x__y",
            ] {
                let mut policy = policy(mode, deny_first);
                policy.remembered.insert(tool.to_owned());
                policy.rules = allowing(tool);
                let verdict = judge_unreadable(&policy, place(), tool);
                let wanted = Reason::Unclear {
                    doubt: Doubt::UnreadableInput,
                };
                assert_eq!(verdict, Verdict::Ask(wanted), "{tool} {mode} {deny_first}");
            }
        }
    }
    let mut reading = policy(Mode::BypassPermissions, false);
    reading.read_only = true;
    assert_eq!(judge_unreadable(&reading, place(), "Write").word(), "deny");
    assert_eq!(judge_unreadable(&reading, place(), "Bash").word(), "deny");
    assert_eq!(judge_unreadable(&reading, place(), "Grep").word(), "ask");
}

#[test]
fn a_search_in_the_home_folder_is_asked_about_because_our_data_lies_there() {
    let home = Place {
        cwd: "/home/user",
        ..place()
    };
    for (tool, input) in [
        ("Grep", json!({ "pattern": "x" })),
        ("Grep", json!({ "pattern": "x", "path": "." })),
        ("Glob", json!({ "pattern": "**/*.json" })),
        ("Bash", json!({ "command": "rg x" })),
        ("Bash", json!({ "command": "grep -r x ." })),
    ] {
        for mode in [Mode::BypassPermissions, Mode::AcceptEdits] {
            let verdict = judge(&policy(mode, false), home, tool, &input);
            let is_asked = matches!(
                &verdict,
                Verdict::Ask(Reason::Unclear {
                    doubt: Doubt::OwnData(_)
                })
            );
            assert!(is_asked, "{tool} {input}: {verdict:?}");
        }
    }
    let near = json!({ "pattern": "x", "path": "project" });
    let verdict = judge(&policy(Mode::Default, true), home, "Grep", &near);
    assert_eq!(verdict.word(), "allow");
}

/// `verdict code | mode (with ! for deny_first) | tool | input`; an input that is no object is a command or a path.
#[test]
fn orders_modes_and_files() {
    check_all(include_str!("cases/orders.txt"), |row| {
        let parts: Vec<&str> = row.splitn(4, '|').map(str::trim).collect();
        let [wanted, mode, tool, input] = parts.as_slice() else {
            return Err("no row".to_owned());
        };
        let deny_first = mode.ends_with('!');
        let mode: Mode = mode
            .trim_end_matches('!')
            .parse()
            .map_err(|_| "no mode".to_owned())?;
        let input: Value = match serde_json::from_str(input) {
            Ok(value @ Value::Object(_)) => value,
            _ if *tool == "Bash" => json!({ "command": input }),
            _ if *tool == "NotebookEdit" => json!({ "notebook_path": input }),
            _ => json!({ "file_path": input }),
        };
        let verdict = judge(&policy(mode, deny_first), place(), tool, &input);
        let code = serde_json::to_value(verdict.reason()).map_err(|error| error.to_string())?;
        let code = code["code"].as_str().unwrap_or_default().to_owned();
        expect(
            wanted,
            &verdict,
            format!("{} {code}", verdict.word()) == *wanted,
        )
    });
}

#[test]
fn a_message_that_lies_in_our_own_data_can_be_read_there_and_nothing_else() {
    let own = "/home/user/.local/share/estelle/runs/1";
    let message = format!("{own}/message-7.md");
    let messages = [message.clone()];
    let real = Place {
        messages: &messages,
        resolve: &|path| Some(path.to_owned()),
        ..place()
    };
    let replaced = Place {
        resolve: &|_| Some("/home/user/.local/share/estelle/log".to_owned()),
        ..real
    };
    let is_allowed = |policy: &Policy, place, tool: &str, input: Value| {
        let verdict = judge(policy, place, tool, &input);
        matches!(verdict, Verdict::Allow(Reason::UserMessage { .. }))
    };
    let at = |path: &str| json!({ "file_path": path });
    for mode in [Mode::Default, Mode::BypassPermissions, Mode::Plan] {
        for deny_first in [false, true] {
            let policy = policy(mode, deny_first);
            let allowed = |tool: &str, input| is_allowed(&policy, real, tool, input);
            assert!(allowed("Read", at(&message)));
            assert!(allowed(
                "Read",
                json!({ "file_path": message, "offset": 2000, "limit": 500 })
            ));
            assert!(allowed(
                "Grep",
                json!({ "path": message, "pattern": "total" })
            ));
            let others = [
                format!("{own}/message-8.md"),
                format!("{own}/message-7.md.new"),
                format!("{own}/./message-7.md"),
                format!("{own}/../1/message-7.md"),
                format!("{message}/../launch.json"),
                message.to_uppercase(),
                format!("file://{message}"),
                own.to_owned(),
            ];
            for other in others {
                assert_own_data(&policy, real, "Read", &at(&other));
            }
            assert_own_data(&policy, replaced, "Read", &at(&message));
            assert_own_data(&policy, place(), "Read", &at(&message));
            let both = json!({ "path": message, "pattern": "x", "glob": format!("{own}/*") });
            assert_own_data(&policy, real, "Grep", &both);
            assert_own_data(
                &policy,
                real,
                "Glob",
                &json!({ "path": message, "pattern": "*" }),
            );
            assert_own_data(&policy, real, "Edit", &at(&message));
            assert_own_data(&policy, real, "Write", &at(&message));
            assert_own_data(&policy, real, "mcp__files__read", &at(&message));
            let cat = json!({ "command": format!("cat {message}") });
            assert_own_data(&policy, real, "Bash", &cat);
        }
    }
    let rule = estelle_state::policy::Rule::parse(
        "Read(*.md)",
        estelle_state::policy::Effect::Deny,
        estelle_state::policy::Scope::Global,
    );
    let strict = Policy {
        rules: vec![rule.unwrap()],
        ..policy(Mode::Default, true)
    };
    let verdict = judge(&strict, real, "Read", &at(&message));
    assert!(
        matches!(&verdict, Verdict::Deny(Reason::UserRule { .. })),
        "what the user forbids stays forbidden: {verdict:?}"
    );
}

#[test]
fn a_path_behind_more_values_than_are_looked_at_is_asked_about_in_every_mode() {
    let own = "/home/user/.local/share/estelle/rules.json";
    let crowded = |count: usize| {
        let mut values = vec![json!(own)];
        values.extend(vec![json!("x"); count]);
        json!({ "values": values })
    };
    let wide = json!({ "path": own, "numbers": vec![1; 200_000] });
    for mode in [Mode::Default, Mode::BypassPermissions, Mode::AcceptEdits] {
        for deny_first in [false, true] {
            let policy = policy(mode, deny_first);
            for (tool, input) in [
                ("mcp__fs__write", crowded(3_000)),
                ("mcp__fs__write", wide.clone()),
                ("TodoWrite", crowded(3_000)),
            ] {
                let verdict = judge(&policy, place(), tool, &input);
                // Which of the values come first is for the walk to know; it may see the path, but never let it pass.
                assert_ne!(verdict.word(), "allow", "{tool} {mode} {deny_first}");
            }
            assert_own_data(&policy, place(), "mcp__fs__write", &crowded(1_000));
        }
    }
    let verdict = judge(
        &policy(Mode::BypassPermissions, false),
        place(),
        "mcp__fs__write",
        &crowded(1_000_000),
    );
    assert!(
        matches!(&verdict, Verdict::Ask(Reason::Unclear { .. })),
        "{verdict:?}"
    );
    let harmless = json!({ "numbers": vec![1; 50_000], "path": "src/main.rs" });
    let bypass = policy(Mode::BypassPermissions, false);
    assert_eq!(
        judge(&bypass, place(), "mcp__x__y", &harmless).word(),
        "allow"
    );
}

fn assert_own_data(policy: &Policy, place: Place<'_>, tool: &str, input: &Value) {
    let verdict = judge(policy, place, tool, input);
    assert!(
        matches!(&verdict, Verdict::Deny(Reason::DataFolder { .. })),
        "{tool} {input}: {verdict:?}"
    );
}

#[test]
fn a_program_is_told_which_rule_list_or_doubt_decided() {
    use estelle_proto::PolicyReason;
    use estelle_state::policy::{Effect, Rule, Scope};
    let rule = Rule::parse("Bash(git push:*)", Effect::Ask, Scope::Workspace);
    let policy = Policy {
        rules: vec![rule.unwrap()],
        ..policy(Mode::Default, true)
    };
    let told = |command: &str| {
        let input = json!({ "command": command });
        let verdict = judge(&policy, place(), "Bash", &input);
        serde_json::to_value(PolicyReason::from(verdict.reason())).unwrap()
    };
    assert_eq!(
        told("git push origin"),
        json!({"code": "userRule", "source": "rule", "rule": "Bash(git push:*)", "scope": "workspace"})
    );
    assert_eq!(
        told("make"),
        json!({"code": "noRule", "source": "nothing", "subject": "Bash"})
    );
    let dangerous = told("rm -rf /");
    assert_eq!(dangerous["code"], "dangerousCommand");
    assert_eq!(dangerous["source"], "list");
    assert!(dangerous["rule"].is_string(), "{dangerous}");
    let unclear = told("$CMD");
    assert_eq!(
        (&unclear["code"], &unclear["doubt"]),
        (&json!("unclear"), &json!("computedCommand"))
    );
}
