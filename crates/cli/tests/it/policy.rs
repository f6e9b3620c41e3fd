//! `estelle policy explain` as a process: arguments, lines, files and what goes wrong with them.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::program::{Place, stderr, stdout};

/// The verdict about one call, as JSON.
fn explain(place: &Place, args: &[&str]) -> Value {
    let all = [&["policy", "explain"], args, &["--json"]].concat();
    let output = place.run(&all, "");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(text).unwrap()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn one_call_gets_a_verdict_and_a_reason() {
    let place = Place::new();
    let dangerous = r#"{"command":"sudo rm -rf /"}"#;
    let verdict = explain(&place, &["Bash", dangerous]);
    assert_eq!(verdict["verdict"], "deny");
    let reason = verdict["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("Dangerous command: `rm -rf /`"),
        "{reason}"
    );
    let bypass = explain(&place, &["Bash", dangerous, "--mode", "bypassPermissions"]);
    assert_eq!(bypass["verdict"], "allow");
    let strict = explain(
        &place,
        &[
            "Bash",
            dangerous,
            "--mode",
            "bypassPermissions",
            "--deny-first",
        ],
    );
    assert_eq!(strict["verdict"], "deny");
    let question = explain(
        &place,
        &["AskUserQuestion", "{}", "--mode", "bypassPermissions"],
    );
    assert_eq!(question["verdict"], "ask");
}

#[test]
fn without_json_a_person_can_read_it() {
    let output = Place::new().run(
        &["policy", "explain", "Edit", r#"{"file_path":"/x/.env"}"#],
        "",
    );
    assert_eq!(
        stdout(&output),
        "deny: Protected file: `/x/.env` matches the deny pattern `*.env`\n"
    );
}

#[test]
fn lines_are_judged_one_by_one_and_bad_ones_do_not_stop_it() {
    let input = concat!(
        r#"{"tool":"Bash","input":{"command":"ls"}}"#,
        "\n",
        "not json\n",
        r#"{"tool":"Bash","input":{"command":"rm -rf /"},"mode":"bypassPermissions"}"#,
        "\n",
        r#"{"tool":"Bash","input":{"command":"rm -rf /"},"mode":"bypassPermissions","denyFirst":true}"#,
        "\n",
        r#"{"tool":"Bash","input":{"command":"ls"},"mode":"sudo"}"#,
        "\n",
        r#"{"tool":"Bash"}"#,
        "\n",
        r#"{"tool":"Bash","tool":"Read","input":{}}"#,
        "\n",
        r#"{"tool":"Bash","input":"ls"}"#,
        "\n",
        "\n",
        r#"{"tool":"Read","input":{"file_path":"x"}}"#,
    );
    let output = Place::new().run(&["policy", "explain", "--stdin"], input);
    let answers = lines(stdout(&output));
    let words: Vec<&str> = answers
        .iter()
        .map(|answer| answer["verdict"].as_str().unwrap_or("error"))
        .collect();
    assert_eq!(
        words,
        [
            "ask", "error", "allow", "deny", "error", "error", "error", "error", "allow"
        ]
    );
    assert_eq!(answers[1]["line"], 2);
    assert!(
        answers[4]["error"].as_str().unwrap().contains("mode"),
        "{}",
        answers[4]
    );
    assert_eq!(output.status.code(), Some(1), "something was wrong");
}

#[test]
fn good_lines_alone_end_well() {
    let line = r#"{"tool":"Bash","input":{"command":"echo \"rm -rf /\""},"denyFirst":true,"mode":"acceptEdits"}"#;
    let output = Place::new().run(
        &["policy", "explain", "--stdin", "--json"],
        &format!("{line}\n").repeat(50),
    );
    let answers = lines(stdout(&output));
    assert_eq!(answers.len(), 50);
    assert!(answers.iter().all(|answer| answer["verdict"] == "allow"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn rules_come_from_a_file() {
    let place = Place::new();
    let file = place.folder().join("rules.json");
    let rules = json!({
        "deny": ["Bash(git push:*)"],
        "workspace": { "allow": ["Bash(ls:*)", "Edit(src/**)"] },
        "patterns": { "commands": ["terraform destroy:*"] },
    });
    std::fs::write(&file, rules.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let verdict = |tool: &str, input: Value| {
        explain(
            &place,
            &[tool, &input.to_string(), "--rules", file, "--cwd", "/w"],
        )["verdict"]
            .clone()
    };
    assert_eq!(verdict("Bash", json!({ "command": "ls -la" })), "allow");
    assert_eq!(
        verdict("Bash", json!({ "command": "ls; git push" })),
        "deny"
    );
    assert_eq!(
        verdict("Bash", json!({ "command": "terraform destroy" })),
        "deny"
    );
    assert_eq!(verdict("Edit", json!({ "file_path": "/w/src/x" })), "allow");
    assert_eq!(
        verdict("Edit", json!({ "file_path": "/other/src/x" })),
        "ask"
    );
}

#[test]
fn the_hosts_own_rules_lists_and_order_count_unless_others_are_given() {
    let place = Place::new();
    let data = place.folder().join("data");
    std::fs::create_dir(&data).unwrap();
    let rule = |text: &str, effect: &str, workspace: Option<&str>| {
        let mut rule = json!({"rule": text, "effect": effect});
        if let Some(workspace) = workspace {
            rule["workspaceId"] = json!(workspace);
        }
        rule
    };
    let rules = json!({"format": 1, "rules": [
        rule("Bash(ls:*)", "allow", None),
        rule("Bash(make:*)", "allow", Some("ws-1")),
    ]});
    std::fs::write(data.join("rules.json"), rules.to_string()).unwrap();
    let lists = json!({"commands": ["terraform destroy:*"]});
    std::fs::write(data.join("deny.json"), lists.to_string()).unwrap();
    let config = place.folder().join("config.toml");
    std::fs::write(&config, "[host]\ndeny_first = true\n").unwrap();
    let empty = place.folder().join("none.json");
    std::fs::write(&empty, "{}").unwrap();
    let texts = [&data, &config, &empty].map(|path| path.to_str().unwrap().to_owned());
    let [data, config, empty] = texts.each_ref().map(String::as_str);
    let verdict = |command: &str, more: &[&str]| {
        let input = json!({ "command": command }).to_string();
        let args = [&["Bash", &input, "--data", data], more].concat();
        explain(&place, &args)["verdict"].clone()
    };
    let bypass = ["--mode", "bypassPermissions"];
    let strict = [&bypass[..], &["--config", config]].concat();
    let loose = [&strict[..], &["--deny-first=false"]].concat();
    assert_eq!(verdict("ls -la", &[]), "allow");
    assert_eq!(verdict("ls -la", &["--rules", empty]), "ask");
    assert_eq!(verdict("make all", &[]), "ask");
    assert_eq!(verdict("make all", &["--workspace", "ws-1"]), "allow");
    assert_eq!(verdict("terraform destroy", &[]), "deny");
    assert_eq!(verdict("terraform destroy", &bypass), "allow");
    assert_eq!(verdict("terraform destroy", &strict), "deny");
    assert_eq!(verdict("terraform destroy", &loose), "allow");
    let inside = format!("cat {data}/rules.json");
    assert_eq!(
        verdict(&inside, &loose),
        "deny",
        "its own data folder is shut"
    );
    std::fs::write(format!("{data}/rules.json"), "broken").unwrap();
    assert_eq!(verdict("ls -la", &bypass), "ask", "nobody knows the rules");
}

#[test]
fn p18_a_link_is_followed_to_what_it_names() {
    let place = Place::new();
    std::fs::write(place.folder().join(".env"), "x").unwrap();
    symlink(".env", place.folder().join("notes.txt")).unwrap();
    let cwd = place.folder().to_str().unwrap();
    let verdict = explain(
        &place,
        &["Edit", r#"{"file_path":"notes.txt"}"#, "--cwd", cwd],
    );
    assert_eq!(verdict["verdict"], "deny", "{verdict}");
    let data = explain(
        &place,
        &[
            "Read",
            r#"{"file_path":"notes.txt"}"#,
            "--cwd",
            cwd,
            "--data-folder",
            cwd,
        ],
    );
    assert_eq!(data["verdict"], "deny", "{data}");
}

#[test]
fn p18_a_link_to_a_file_that_is_not_there_yet_is_followed_too() {
    let place = Place::new();
    let folder = place.folder();
    std::fs::create_dir_all(folder.join("data/runs")).unwrap();
    symlink(".env", folder.join("notes.txt")).unwrap();
    symlink("data/runs", folder.join("linked")).unwrap();
    let (cwd, data) = (folder.to_str().unwrap(), folder.join("data"));
    let data = data.to_str().unwrap();
    let places = ["--cwd", cwd, "--data-folder", data];
    let judged = |tool: &str, input: Value, mode: &str| {
        let input = input.to_string();
        let args = [&[tool, &input, "--mode", mode], places.as_slice()].concat();
        let verdict = explain(&place, &args);
        let (word, code) = (&verdict["verdict"], &verdict["detail"]["code"]);
        format!("{} {}", word.as_str().unwrap(), code.as_str().unwrap())
    };
    let file = |path: &str| json!({ "file_path": path });
    let run = |command: &str| json!({ "command": command });
    assert_eq!(
        judged("Write", file("notes.txt"), "default"),
        "deny protectedFile"
    );
    assert_eq!(
        judged("Bash", run("echo > notes.txt"), "default"),
        "deny protectedFile"
    );
    let bypass = "bypassPermissions";
    assert_eq!(
        judged("Write", file("linked/new"), bypass),
        "deny dataFolder"
    );
    assert_eq!(
        judged("Bash", run("echo > linked/../rules.json"), bypass),
        "deny dataFolder"
    );
    assert_eq!(
        judged("Bash", run("cat linked/*"), bypass),
        "deny dataFolder"
    );
    assert_eq!(judged("Write", file("new.txt"), bypass), "allow mode");
}

#[test]
fn mistakes_are_named_with_what_to_do() {
    let place = Place::new();
    let bad_rule = place.folder().join("rules.json");
    std::fs::write(&bad_rule, r#"{"deny":["Bash("]}"#).unwrap();
    let bad_rule = bad_rule.to_str().unwrap();
    let cases: [(&[&str], &str); 7] = [
        (&["Bash", "ls"], "write it like"),
        (&["Bash", "[]"], "JSON object"),
        (
            &["Bash", "{}", "--mode", "yolo"],
            "use default, acceptEdits, bypassPermissions or plan",
        ),
        (&["Bash", "{}", "--cwd", "relative"], "absolute path"),
        (
            &["Bash", "{}", "--rules", "/does/not/exist"],
            "/does/not/exist",
        ),
        (&["Bash", "{}", "--rules", bad_rule], "close it with `)`"),
        (&["Bash"], "INPUT"),
    ];
    for (args, hint) in cases {
        let output = place.run(&[&["policy", "explain"], args].concat(), "");
        assert_ne!(output.status.code(), Some(0), "{args:?}");
        assert!(
            stderr(&output).contains(hint),
            "{args:?}: {}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "", "{args:?}");
    }
}
