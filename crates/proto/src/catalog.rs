//! What the generators need to know about this crate: its tables, its pages and the TypeScript of its types.
//!
//! Only with the feature `gen`. Nothing is written here; `cargo xtask gen` turns the catalog into files.

use std::any::{TypeId, type_name};
use std::collections::BTreeSet;

use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde_json::Value;
use ts_rs::{Config, TS, TypeVisitor};

use crate::address::Target;
use crate::envelope::Addresses;
use crate::{
    AppToPylon, ClaudeEvent, DeviceToRelay, HistoryMessage, HostToPylon, PylonToApp, PylonToHost,
    PylonToPylon, RelayToDevice, Sender, To,
    keeper::{KeeperToViewer, ViewerToKeeper},
};

/// A union whose kinds can be listed.
pub trait Listed {
    /// One row per kind.
    fn rows() -> Vec<Row>;
}

/// A kind and the struct behind it.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The `type` on the wire.
    pub kind: &'static str,
    /// The struct, with its module.
    pub body: TypePath,
    /// Whether it has no required field: a message of this kind may come without a payload.
    pub may_be_empty: bool,
}

impl Row {
    /// A row of a table.
    pub fn of<T: JsonSchema>(kind: &'static str) -> Self {
        Self {
            kind,
            body: TypePath::of::<T>(),
            may_be_empty: schemars::schema_for!(T).get("required").is_none(),
        }
    }
}

/// Where a type of this crate is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TypePath {
    /// The file (or folder) directly below the crate: one page, one TypeScript file.
    pub module: &'static str,
    /// The name of the type.
    pub name: &'static str,
}

impl TypePath {
    /// The path of a type.
    pub fn of<T: ?Sized>() -> Self {
        let mut parts = type_name::<T>().split("::").skip(1);
        let module = parts.next().unwrap_or_default();
        let name = parts.last().unwrap_or_default();
        Self { module, name }
    }
}

/// How the members of a table look on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `{type, payload}`, in an envelope.
    Message,
    /// A flat object with `type`, one per line.
    Line,
    /// A flat object with `type`, inside a message.
    Object,
}

/// A union with its rows and its schema.
#[derive(Debug)]
pub struct Table {
    /// The union.
    pub path: TypePath,
    /// How its members look on the wire.
    pub form: Form,
    /// Who says it to whom.
    pub direction: &'static str,
    /// The prefix of its examples under `fixtures/proto/v1`.
    pub prefix: &'static str,
    /// Its kinds.
    pub rows: Vec<Row>,
    /// The schema, with all definitions it needs.
    pub schema: Schema,
}

fn table<T: Listed + JsonSchema>(
    form: Form,
    direction: &'static str,
    prefix: &'static str,
) -> Table {
    let rows = T::rows();
    let mut schema = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<T>();
    let kinds = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    for kind in kinds.into_iter().flatten() {
        release_payload(kind, &rows);
    }
    Table {
        path: TypePath::of::<T>(),
        form,
        direction,
        prefix,
        rows,
        schema,
    }
}

/// A payload that may be empty may be absent.
fn release_payload(kind: &mut Value, rows: &[Row]) {
    let name = kind.pointer("/properties/type/const").cloned();
    let mut rows = rows.iter().filter(|row| row.may_be_empty);
    if rows.any(|row| name.as_ref().is_some_and(|name| name == row.kind))
        && let Some(required) = kind.get_mut("required").and_then(Value::as_array_mut)
    {
        required.retain(|field| field != "payload");
    }
}

/// Every table of the protocol.
pub fn tables() -> Vec<Table> {
    vec![
        table::<DeviceToRelay>(Form::Message, "device → relay", ""),
        table::<RelayToDevice>(Form::Message, "relay → device", ""),
        table::<AppToPylon>(Form::Message, "app → Pylon", ""),
        table::<PylonToApp>(Form::Message, "Pylon → app", ""),
        table::<PylonToPylon>(Form::Message, "Pylon → Pylon", ""),
        table::<ClaudeEvent>(Form::Object, "event", "event."),
        table::<HistoryMessage>(Form::Object, "history entry", "history."),
        table::<PylonToHost>(Form::Line, "Pylon → host", "ipc."),
        table::<HostToPylon>(Form::Line, "host → Pylon", "ipc."),
        table::<ViewerToKeeper>(Form::Line, "viewer → keeper", "keeper."),
        table::<KeeperToViewer>(Form::Line, "keeper → viewer", "keeper."),
    ]
}

/// A file of this crate that has a page in the documentation.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// The module.
    pub module: &'static str,
    /// Its source, which begins with the exchange.
    pub source: &'static str,
}

/// Every page, in the order in which one reads them.
pub const PAGES: [Page; 41] = [
    page("envelope", include_str!("envelope.rs")),
    page("address", include_str!("address.rs")),
    page("forward", include_str!("forward.rs")),
    page("auth", include_str!("auth.rs")),
    page("pairing", include_str!("pairing.rs")),
    page("devices", include_str!("devices.rs")),
    page("workspaces", include_str!("workspaces.rs")),
    page("conversations", include_str!("conversations.rs")),
    page("history", include_str!("history.rs")),
    page("lookup", include_str!("lookup.rs")),
    page("export", include_str!("export.rs")),
    page("claude", include_str!("claude.rs")),
    page("events", include_str!("events.rs")),
    page("writing", include_str!("writing.rs")),
    page("waiting", include_str!("waiting.rs")),
    page("runs", include_str!("runs.rs")),
    page("decisions", include_str!("decisions.rs")),
    page("usage", include_str!("usage.rs")),
    page("deploy", include_str!("deploy.rs")),
    page("version", include_str!("version.rs")),
    page("folders", include_str!("folders.rs")),
    page("files", include_str!("files.rs")),
    page("changes", include_str!("changes.rs")),
    page("turns", include_str!("turns.rs")),
    page("worktrees", include_str!("worktrees.rs")),
    page("saved", include_str!("saved.rs")),
    page("rules", include_str!("rules.rs")),
    page("tasks", include_str!("tasks.rs")),
    page("terminals", include_str!("terminals.rs")),
    page("blobs", include_str!("blobs.rs")),
    page("budgets", include_str!("budgets.rs")),
    page("continuation", include_str!("continuation.rs")),
    page("notifications", include_str!("notifications.rs")),
    page("plan", include_str!("plan.rs")),
    page("bugs", include_str!("bugs.rs")),
    page("ipc", include_str!("ipc/mod.rs")),
    page("keeper", include_str!("keeper.rs")),
    page("answer", include_str!("answer.rs")),
    page("error", include_str!("error.rs")),
    page("ids", include_str!("ids.rs")),
    page("json", include_str!("json.rs")),
];

const fn page(module: &'static str, source: &'static str) -> Page {
    Page { module, source }
}

/// A type in TypeScript.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Declaration {
    /// Where it is defined.
    pub path: TypePath,
    /// `type Name = ...;`, with its documentation.
    pub text: String,
}

/// Every type that can be reached from a table, by module and name.
pub fn declarations() -> Vec<Declaration> {
    let mut visitor = Declarations {
        config: Config::new().with_large_int("number"),
        seen: BTreeSet::new(),
        found: Vec::new(),
    };
    visitor.visit::<DeviceToRelay>();
    visitor.visit::<RelayToDevice>();
    visitor.visit::<AppToPylon>();
    visitor.visit::<PylonToApp>();
    visitor.visit::<PylonToPylon>();
    visitor.visit::<PylonToHost>();
    visitor.visit::<HostToPylon>();
    visitor.visit::<ViewerToKeeper>();
    visitor.visit::<KeeperToViewer>();
    visitor.visit::<Addresses>();
    visitor.visit::<To>();
    visitor.visit::<Target>();
    visitor.visit::<Sender>();
    visitor.visit::<crate::Broadcast>();
    visitor.visit::<crate::ApiError>();
    for row in tables().iter().flat_map(|table| &table.rows) {
        visitor.release_payload(row);
    }
    visitor.found.sort();
    visitor.found
}

struct Declarations {
    config: Config,
    seen: BTreeSet<TypeId>,
    found: Vec<Declaration>,
}

impl Declarations {
    /// A payload that may be empty may be absent.
    fn release_payload(&mut self, row: &Row) {
        let member = format!(r#""type": "{}", "payload""#, row.kind);
        if row.may_be_empty {
            for declared in &mut self.found {
                declared.text = declared
                    .text
                    .replace(&format!("{member}:"), &format!("{member}?:"));
            }
        }
    }
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Containers and types of the standard library have no declaration of their own.
        let is_ours = type_name::<T>().starts_with("estelle_proto::");
        if self.seen.insert(TypeId::of::<T>()) {
            T::visit_dependencies(self);
            T::visit_generics(self);
            if is_ours {
                let path = TypePath::of::<T>();
                let docs = T::docs().unwrap_or_default();
                let text = format!("{docs}export {}\n", T::decl(&self.config));
                self.found.push(Declaration { path, text });
            }
        }
    }
}
