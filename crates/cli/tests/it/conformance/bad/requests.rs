//! Every request that a client can make, sound, and with each of its fields wrong, as the schema of the protocol has them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::claude::Talk;

/// What a client may say to a Pylon.
const SCHEMA: &str = include_str!("../../../../../../docs/protocol/schema/app-to-pylon.json");

/// Everything of the schema that is tried here has a sound example, which the machine would carry out.
pub(super) struct Requests {
    schema: Value,
    pub(super) sound: BTreeMap<&'static str, Value>,
}

impl Requests {
    #[expect(
        clippy::too_many_lines,
        reason = "a table: one row for each kind of request"
    )]
    pub(super) fn new(talk: &Talk, call: &Value, folder: &Value) -> Self {
        let both = talk.with(&json!({}));
        let with = |more: Value| talk.with(&more);
        let sound = [
            ("workspace_list", json!({})),
            (
                "workspace_create",
                json!({"name": "N", "workingDir": folder}),
            ),
            ("workspace_delete", json!({"workspaceId": talk.workspace})),
            (
                "workspace_rename",
                json!({"workspaceId": talk.workspace, "newName": "N"}),
            ),
            ("workspace_switch", both.clone()),
            (
                "conversation_create",
                json!({"workspaceId": talk.workspace, "name": "N", "skillType": "general", "model": "m", "permissionMode": "default"}),
            ),
            (
                "conversation_fork",
                with(json!({"beforeSeq": 1, "name": "N"})),
            ),
            ("conversation_select", both.clone()),
            ("conversation_delete", both.clone()),
            ("conversation_rename", with(json!({"newName": "N"}))),
            (
                "history_request",
                with(json!({"limit": 1, "offset": 0, "beforeSeq": 1, "afterSeq": 1, "epoch": 1})),
            ),
            (
                "history_search",
                json!({"query": "q", "workspaceId": talk.workspace, "conversationId": talk.id, "limit": 1}),
            ),
            (
                "tool_detail",
                json!({"conversationId": talk.id, "toolUseId": call}),
            ),
            (
                "claude_send",
                with(json!({"message": "m", "clientMessageId": "c", "onBusy": "queue"})),
            ),
            (
                "claude_permission",
                with(
                    json!({"toolUseId": call, "decision": "allow", "message": "m", "inputHash": "h"}),
                ),
            ),
            (
                "claude_answer",
                with(json!({"toolUseId": call, "answer": "a"})),
            ),
            (
                "claude_control",
                with(json!({"action": "stop", "clientMessageId": "c"})),
            ),
            (
                "claude_set_permission_mode",
                json!({"mode": "default", "conversationId": talk.id}),
            ),
            (
                "claude_set_model",
                json!({"conversationId": talk.id, "model": "m"}),
            ),
            (
                "usage_request",
                json!({"groupBy": "day", "from": "2026-01-01", "until": "2026-01-02"}),
            ),
            ("folder_list", json!({"path": folder})),
            ("task_list", json!({"workspaceId": talk.workspace})),
            (
                "task_get",
                json!({"workspaceId": talk.workspace, "taskId": "t"}),
            ),
            (
                "task_create",
                json!({"workspaceId": talk.workspace, "title": "T", "content": "c"}),
            ),
            (
                "task_status",
                json!({"workspaceId": talk.workspace, "taskId": "t", "status": "failed", "error": "e"}),
            ),
            (
                "file_list",
                with(json!({"path": "a", "limit": 1, "cursor": "c"})),
            ),
            (
                "file_read",
                with(json!({"path": "a.txt", "offset": 0, "limit": 9, "encoding": "text"})),
            ),
            ("changes_request", with(json!({"limit": 1, "offset": 0}))),
            (
                "diff_request",
                with(json!({"path": "a", "offset": 0, "digest": "d"})),
            ),
            ("worker_status", json!({"workspaceId": talk.workspace})),
            ("worker_start", json!({"workspaceId": talk.workspace})),
            (
                "worker_stop",
                json!({"workspaceId": talk.workspace, "afterTask": true}),
            ),
            ("rules_request", json!({"workspaceId": talk.workspace})),
            (
                "rule_change",
                json!({"rule": "Bash(ls)", "effect": "allow", "workspaceId": talk.workspace}),
            ),
        ];
        let schema = serde_json::from_str(SCHEMA).unwrap();
        let mut sound = BTreeMap::from(sound);
        sound.extend(of_the_machine(talk));
        Self { schema, sound }
    }

    /// The schema of the payload of each request.
    fn payloads(&self) -> impl Iterator<Item = (&str, &Value)> {
        let messages = self.schema["oneOf"].as_array().unwrap().iter();
        messages.map(|message| {
            let kind = message["properties"]["type"]["const"].as_str().unwrap();
            (kind, self.resolved(&message["properties"]["payload"]))
        })
    }

    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(path) => self.schema.pointer(path.trim_start_matches('#')).unwrap(),
            None => schema,
        }
    }

    /// Every request with one field of it wrong.
    pub(super) fn cases(&self) -> Vec<(&str, Value)> {
        let mut cases = Vec::new();
        for (kind, schema) in self.payloads() {
            let written = self.sound.get(kind);
            let sound = written.cloned().unwrap_or_else(|| self.made_up(schema));
            for (name, field) in schema["properties"].as_object().unwrap() {
                let long = written.and_then(|_| self.too_long(field));
                let required = schema["required"].as_array();
                let is_required = required.is_some_and(|all| all.contains(&json!(name)));
                let missing = is_required.then_some([None, Some(Value::Null)]);
                let wrong = self.wrong(field).into_iter().chain(long).map(Some);
                let changes = missing.into_iter().flatten().chain(wrong);
                cases.extend(changes.map(|change| (kind, changed(&sound, name, change))));
            }
        }
        cases
    }

    /// Values that a field cannot have: of other types, and too long.
    fn wrong(&self, field: &Value) -> Vec<Value> {
        let types = self.types(field);
        let is_number = types.contains("integer");
        let numbers = is_number.then(|| [json!(-1), json!(1.5)]);
        let all = [
            ("boolean", json!(true)),
            ("integer", json!(7)),
            ("array", json!([])),
            ("object", json!({})),
            ("string", json!("text")),
        ];
        let others = all.into_iter().filter(|(kind, _)| !types.contains(kind));
        let others = others.map(|(_, value)| value);
        numbers.into_iter().flatten().chain(others).collect()
    }

    /// A text that is too long, for a field that takes one.
    fn too_long(&self, field: &Value) -> Option<Value> {
        let of = field.to_string();
        let length = match () {
            () if of.contains("/Prompt") => 512 * 1024 + 1,
            () if of.contains("/Answer")
                || of.contains("/ReportText")
                || of.contains("when denying") =>
            {
                64 * 1024 + 1
            }
            () if of.contains("/TaskText") => 256 * 1024 + 1,
            () => 9 * 1024,
        };
        let takes_text = self.types(field).contains("string");
        takes_text.then(|| json!("x".repeat(length)))
    }

    /// The types that a field takes, in one text.
    fn types(&self, field: &Value) -> String {
        let field = self.resolved(field);
        let forms = field["anyOf"].as_array().into_iter().flatten();
        let forms: String = forms.map(|form| self.types(form)).collect();
        let words = if field["oneOf"].is_array() {
            "string"
        } else {
            ""
        };
        format!("{words}{}{forms}", field["type"])
    }

    /// Something that has the shape of a request.
    fn made_up(&self, schema: &Value) -> Value {
        let fields = schema["properties"].as_object().unwrap().iter();
        let values = fields.map(|(name, field)| {
            let types = self.types(field);
            let all = [
                ("string", json!("x")),
                ("integer", json!(1)),
                ("boolean", json!(true)),
            ];
            let value = all.into_iter().find(|(kind, _)| types.contains(kind));
            (name.clone(), value.map_or(Value::Null, |(_, value)| value))
        });
        values.collect()
    }
}

/// What is about the machine, and not about conversations.
fn of_the_machine(talk: &Talk) -> Vec<(&'static str, Value)> {
    vec![
        ("deploy_prepare", json!({"relayDeploy": true})),
        (
            "deploy_confirm",
            json!({"preApproved": true, "cancel": false}),
        ),
        ("deploy_go", json!({})),
        ("deploy_status_request", json!({})),
        ("version_check_request", json!({})),
        ("app_update_request", json!({})),
        (
            "bug_report",
            json!({"message": "m", "timestamp": "t", "conversationId": talk.id, "appVersion": "v"}),
        ),
    ]
}

/// The same with another value of one field, or without it.
fn changed(sound: &Value, name: &str, value: Option<Value>) -> Value {
    let mut payload = sound.clone();
    match value {
        Some(value) => payload[name] = value,
        None => drop(payload.as_object_mut().unwrap().remove(name)),
    }
    payload
}
