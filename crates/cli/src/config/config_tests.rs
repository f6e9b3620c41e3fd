//! What holds, where it comes from, and how a wrong value is refused.

use std::ffi::OsString;
use std::path::PathBuf;

use super::command::{as_json, as_text, example};
use super::file::{Loaded, Source};
use super::keys::keys;
use super::*;

fn read(text: &str, variables: &[(&str, &str)]) -> anyhow::Result<Loaded> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, text).unwrap();
    Loaded::read(Some(&path), |name| {
        let found = variables.iter().find(|(own, _)| *own == name);
        found.map(|(_, value)| OsString::from(value))
    })
}

fn refusal(text: &str, variables: &[(&str, &str)]) -> String {
    format!("{:#}", read(text, variables).unwrap_err())
}

#[test]
fn the_environment_stands_above_the_file_and_the_file_above_the_defaults() {
    let text =
        "[relay]\nlisten = \"127.0.0.1:1\"\n[host]\nidle_timeout_minutes = 7\ndeny_first = true\n";
    let loaded = read(text, &[("ESTELLE_RELAY_LISTEN", "127.0.0.1:2")]).unwrap();
    assert_eq!(loaded.config.relay.listen.port(), 2);
    assert_eq!(loaded.config.host.idle_timeout_minutes, 7);
    assert!(loaded.config.host.deny_first);
    assert_eq!(loaded.config.pylon, Config::default().pylon);
    let source = |key: &str| loaded.sources.get(key).cloned().unwrap();
    assert_eq!(
        source("relay.listen"),
        Source::Variable("ESTELLE_RELAY_LISTEN")
    );
    assert_eq!(source("host.deny_first"), Source::File);
    assert_eq!(source("pylon.id"), Source::Default);
}

#[test]
fn lists_come_as_lists_or_with_commas() {
    let in_file = read("[pylon]\nroots = [\"/a\", \"/b c\"]\n", &[]).unwrap();
    let in_environment = read("", &[("ESTELLE_PYLON_ROOTS", "/a, /b c,")]).unwrap();
    let roots = vec![PathBuf::from("/a"), PathBuf::from("/b c")];
    assert_eq!(in_file.config.pylon.roots, roots);
    assert_eq!(in_environment.config.pylon.roots, roots);
}

#[test]
fn hosts_are_names_or_addresses_with_or_without_a_port() {
    let hosts = "e.example.org, e.example.org:8443, 127.0.0.1:1, [::1], [::1]:7710";
    let loaded = read("", &[("ESTELLE_RELAY_HOSTS", hosts)]).unwrap();
    assert_eq!(loaded.config.relay.hosts.join(", "), hosts);
}

#[test]
fn every_refusal_names_the_key_and_where_the_value_stands() {
    let wrong = [
        ("[relay]\nlisten = \"here\"", "`relay.listen` in "),
        ("[relay]\nlisten = 7710", "an address with a port"),
        ("[relay]\nproxies = [\"x\"]", "`relay.proxies` in "),
        (
            "[relay]\nhosts = [\"https://a.example.org\"]",
            "`relay.hosts` in ",
        ),
        ("[gateway]\nhosts = [\"a b\"]", "`gateway.hosts` in "),
        ("[gateway]\nhosts = [\"a:b\"]", "`gateway.hosts` in "),
        (
            "[relay]\npublic_url = \"example.org\"",
            "`relay.public_url` in ",
        ),
        ("[relay]\nrealm = \"Home Sweet\"", "`relay.realm` in "),
        ("[relay]\nkey = \"/k\"", "`relay.certificate` is missing"),
        ("[pylon]\nid = 0", "`pylon.id` in "),
        ("[pylon]\nid = [1]", "is a list"),
        ("[pylon]\nroots = [\"relative\"]", "`pylon.roots` in "),
        ("[pylon]\nicon = \"\"", "`pylon.icon` in "),
        (
            "[host]\nturn_limit_minutes = -1",
            "`host.turn_limit_minutes` in ",
        ),
        ("[host]\ndeny_first = \"perhaps\"", "`true` or `false`"),
        ("log = \"a=b=c\"", "`log` in "),
        ("log_format = \"xml\"", "`log_format` in "),
        ("log_format = \"JSON\"", "`text` or `json` is wanted"),
        ("[host]\nidle = 3", "`host.idle` in "),
        (
            "[hots]\nx = 3",
            "there are log, log_format, allow_plaintext, relay, pylon, host",
        ),
        ("[host", "is no valid TOML"),
    ];
    for (text, expected) in wrong {
        let told = refusal(text, &[]);
        assert!(told.contains(expected), "{text}: {told}");
    }
    let told = refusal("", &[("PROCESS_SHUTDOWN_GRACE_SECONDS", "soon")]);
    assert!(
        told.contains(
            "`host.shutdown_grace_seconds` (from the variable PROCESS_SHUTDOWN_GRACE_SECONDS)"
        ),
        "{told}"
    );
}

#[test]
fn an_idle_timeout_that_makes_no_sense_becomes_one_that_does_and_everybody_is_told() {
    // What was written, what holds, and whether that needs a word.
    let cases = [
        ("45", 45, false),
        ("5", 5, false),
        ("0", 0, false),
        ("1", 5, true),
        ("4", 5, true),
        ("-1", 30, true),
        ("nan", 30, true),
        ("7.5", 30, true),
        ("true", 30, true),
        ("[45]", 30, true),
        ("\"soon\"", 30, true),
        ("\"\"", 30, true),
        ("9000000", 525_600, true),
    ];
    let name = "host.idle_timeout_minutes";
    for (written, holds, is_told) in cases {
        let loaded = read(&format!("[host]\nidle_timeout_minutes = {written}"), &[]).unwrap();
        assert_eq!(loaded.config.host.idle_timeout_minutes, holds, "{written}");
        let remark = loaded.remarks.get(name);
        assert_eq!(remark.is_some(), is_told, "{written}: {remark:?}");
        let text = as_text(&loaded);
        let told = format!("; {holds} holds instead");
        assert_eq!(text.contains(&told), is_told, "{written}: {text}");
        let json = as_json(&loaded);
        assert_eq!(json["keys"][name]["value"], holds, "{json}");
        assert_eq!(json["keys"][name]["remark"].is_string(), is_told, "{json}");
    }
    for (given, holds, is_told) in [
        ("soon", 30, true),
        ("-3", 30, true),
        ("NaN", 30, true),
        ("2", 5, true),
        (" 7 ", 7, false),
        ("0", 0, false),
        // Nothing was said, so that the file counts.
        ("", 45, false),
    ] {
        let file = "[host]\nidle_timeout_minutes = 45";
        let loaded = read(file, &[("PROCESS_IDLE_TIMEOUT_MINUTES", given)]).unwrap();
        assert_eq!(loaded.config.host.idle_timeout_minutes, holds, "{given:?}");
        let remark = loaded.remarks.get(name).map_or("", String::as_str);
        let place = "(from the variable PROCESS_IDLE_TIMEOUT_MINUTES)";
        assert_eq!(remark.contains(place), is_told, "{given:?}: {remark}");
    }
}

#[test]
fn the_example_names_every_key_and_says_the_defaults() {
    let text = example();
    let without_hashes: String = text
        .lines()
        .filter_map(|line| {
            let value = line.strip_prefix("# ").filter(|line| line.contains(" = "));
            value.or_else(|| Some(line).filter(|line| line.starts_with('[')))
        })
        .flat_map(|line| [line, "\n"])
        .collect();
    let loaded = read(&without_hashes, &[]).unwrap();
    assert_eq!(loaded.config, Config::default());
    for key in keys() {
        assert_eq!(
            loaded.sources.get(key.name),
            Some(&Source::File),
            "{}",
            key.name
        );
    }
}

#[test]
fn a_named_file_must_be_there_and_the_usual_one_need_not() {
    let nowhere = std::path::Path::new("/nonexistent/config.toml");
    assert!(Loaded::read(Some(nowhere), |_| None).is_err());
    let home = |name: &str| (name == "HOME").then(|| OsString::from("/nonexistent"));
    let loaded = Loaded::read(None, home).unwrap();
    assert_eq!(
        loaded.path,
        Some("/nonexistent/.config/estelle/config.toml".into())
    );
    assert_eq!(loaded.config, Config::default());
}
