//! Every message type has its JSON under `fixtures/proto/v1`; reading and writing it again changes nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use estelle_proto::keeper::{KeeperToViewer, ViewerToKeeper};
use estelle_proto::{
    AppToPylon, ClaudeEvent, DeviceToRelay, Envelope, HistoryMessage, HostToPylon, Message,
    PylonToApp, PylonToHost, PylonToPylon, RelayToDevice, ipc,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads a text as one type and writes it again; the error says what is wrong.
pub(crate) type Trip = fn(&str) -> Result<String, String>;

/// A union of the protocol, as the tests need it.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) prefix: &'static str,
    pub(crate) kinds: &'static [&'static str],
    pub(crate) trip: Trip,
}

fn message<M: Message>(text: &str) -> Result<String, String> {
    let envelope = Envelope::<M>::parse(text).map_err(|error| error.to_string())?;
    envelope.to_json().map_err(|error| error.to_string())
}

fn object<T: Serialize + DeserializeOwned>(text: &str) -> Result<String, String> {
    let value: T = ipc::parse_line(text).map_err(|error| error.to_string())?;
    ipc::to_line(&value).map_err(|error| error.to_string())
}

pub(crate) fn tables() -> Vec<Table> {
    fn of<M: Message>(name: &'static str) -> Table {
        let (prefix, kinds, trip) = ("", M::KINDS, message::<M> as Trip);
        Table {
            name,
            prefix,
            kinds,
            trip,
        }
    }
    let flat = |name, prefix, kinds, trip| Table {
        name,
        prefix,
        kinds,
        trip,
    };
    vec![
        of::<DeviceToRelay>("DeviceToRelay"),
        of::<RelayToDevice>("RelayToDevice"),
        of::<AppToPylon>("AppToPylon"),
        of::<PylonToApp>("PylonToApp"),
        of::<PylonToPylon>("PylonToPylon"),
        flat(
            "ClaudeEvent",
            "event.",
            ClaudeEvent::KINDS,
            object::<ClaudeEvent>,
        ),
        flat(
            "HistoryMessage",
            "history.",
            HistoryMessage::KINDS,
            object::<HistoryMessage>,
        ),
        flat(
            "PylonToHost",
            "ipc.",
            PylonToHost::KINDS,
            object::<PylonToHost>,
        ),
        flat(
            "HostToPylon",
            "ipc.",
            HostToPylon::KINDS,
            object::<HostToPylon>,
        ),
        flat(
            "ViewerToKeeper",
            "keeper.",
            ViewerToKeeper::KINDS,
            object::<ViewerToKeeper>,
        ),
        flat(
            "KeeperToViewer",
            "keeper.",
            KeeperToViewer::KINDS,
            object::<KeeperToViewer>,
        ),
    ]
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/proto/v1")
}

/// All examples by the name of their file, without `.json`.
pub(crate) fn examples() -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder()).expect("the folder of examples is there");
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let name = name
                .strip_suffix(".json")
                .expect("an example ends with .json");
            (name.to_owned(), std::fs::read_to_string(&path).unwrap())
        })
        .collect()
}

/// The tables that know an example, with its kind.
pub(crate) fn owners(name: &str) -> Vec<Table> {
    let knows = |table: &Table| {
        let Some(rest) = name.strip_prefix(table.prefix) else {
            return false;
        };
        table
            .kinds
            .contains(&rest.split('.').next().unwrap_or(rest))
    };
    tables().into_iter().filter(knows).collect()
}

#[test]
fn every_kind_has_an_example() {
    let examples = examples();
    let mut missing = Vec::new();
    for table in tables() {
        for kind in table.kinds {
            let file = format!("{}{kind}", table.prefix);
            if !examples.contains_key(&file) {
                missing.push(format!("{}: fixtures/proto/v1/{file}.json", table.name));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "no example for:\n{}",
        missing.join("\n")
    );
}

#[test]
fn every_example_belongs_to_a_kind() {
    for name in examples().keys() {
        assert!(
            !owners(name).is_empty(),
            "{name}.json is an example of nothing"
        );
    }
}

#[test]
fn reading_and_writing_an_example_changes_nothing() {
    for (name, text) in examples() {
        let expected: Value = serde_json::from_str(&text).unwrap();
        for table in owners(&name) {
            let written = (table.trip)(&text)
                .unwrap_or_else(|error| panic!("{name}.json as {}: {error}", table.name));
            let written: Value = serde_json::from_str(&written).unwrap();
            assert_eq!(written, expected, "{name}.json as {}", table.name);
        }
    }
}

#[test]
fn an_entry_that_was_written_here_is_read_back_as_any_other() {
    let examples = examples();
    let entries = examples.iter().filter(|(name, _)| {
        let tables = owners(name);
        tables.iter().any(|table| table.name == "HistoryMessage")
    });
    for (name, text) in entries {
        let entry: HistoryMessage = serde_json::from_str(text).unwrap();
        let written = serde_json::to_string(&entry).unwrap();
        assert_eq!(
            HistoryMessage::read_back(&written).unwrap(),
            entry,
            "{name}"
        );
        // However it is laid out.
        assert_eq!(HistoryMessage::read_back(text).unwrap(), entry, "{name}");
    }
    let unknown = r#"{"type":"of a later version","content":"x"}"#;
    let entry = HistoryMessage::read_back(unknown).unwrap();
    assert_eq!(entry.kind(), "of a later version");
    assert_eq!(serde_json::to_string(&entry).unwrap(), unknown);
}
