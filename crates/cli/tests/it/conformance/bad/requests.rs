//! Every request that a client can make, sound, and with each of its fields wrong, as the schema of the protocol has them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::claude::Talk;
use super::sound;

/// What a client may say to a Pylon.
const SCHEMA: &str = include_str!("../../../../../../docs/protocol/schema/app-to-pylon.json");

/// Everything of the schema that is tried here has a sound example, which the machine would carry out.
pub(super) struct Requests {
    schema: Value,
    pub(super) sound: BTreeMap<&'static str, Value>,
}

impl Requests {
    pub(super) fn new(talk: &Talk, call: &Value, folder: &Value) -> Self {
        let schema = serde_json::from_str(SCHEMA).unwrap();
        let sound = sound::all(talk, call, folder);
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

    /// Every request with one field of it wrong, at any depth.
    pub(super) fn cases(&self) -> Vec<(&str, Value)> {
        let mut cases = Vec::new();
        for (kind, schema) in self.payloads() {
            let written = self.sound.get(kind);
            let sound = written.cloned().unwrap_or_else(|| self.made_up(schema));
            let wrong = self.spoiled(schema, &sound, written.is_some());
            cases.extend(wrong.into_iter().map(|payload| (kind, payload)));
        }
        cases
    }

    /// An object with one field of it wrong, or of an object in it.
    fn spoiled(&self, schema: &Value, sound: &Value, is_written: bool) -> Vec<Value> {
        let mut all = Vec::new();
        for (name, field) in schema["properties"].as_object().unwrap() {
            let long = is_written.then(|| self.too_long(field)).flatten();
            let required = schema["required"].as_array();
            let is_required = required.is_some_and(|all| all.contains(&json!(name)));
            if self.takes_anything(field) {
                all.extend(is_required.then(|| changed(sound, name, None)));
                continue;
            }
            let missing = is_required.then_some([None, Some(Value::Null)]);
            let wrong = self.wrong(field).into_iter().chain(long).map(Some);
            let changes = missing.into_iter().flatten().chain(wrong);
            all.extend(changes.map(|change| changed(sound, name, change)));
            let Some((inner, is_list)) = self.inner(field) else {
                continue;
            };
            let has = if is_list {
                &sound[name][0]
            } else {
                &sound[name]
            };
            let within = if has.is_object() {
                self.spoiled(inner, has, is_written)
            } else {
                self.spoiled(inner, &self.made_up(inner), false)
            };
            let within = within.into_iter().map(|value| {
                let value = if is_list { json!([value]) } else { value };
                changed(sound, name, Some(value))
            });
            all.extend(within);
        }
        all
    }

    /// Whether any value is right, as for what a tool is called with.
    fn takes_anything(&self, field: &Value) -> bool {
        let field = self.resolved(field);
        let says = ["type", "anyOf", "oneOf", "enum", "const"];
        !says.iter().any(|key| field.get(key).is_some())
    }

    /// The object that a field takes, by itself or in a list.
    fn inner<'a>(&'a self, field: &'a Value) -> Option<(&'a Value, bool)> {
        let field = self.resolved(field);
        if field["properties"].is_object() {
            return Some((field, false));
        }
        if field["items"].is_object() {
            return self.inner(&field["items"]).map(|(inner, _)| (inner, true));
        }
        let mut forms = field["anyOf"].as_array()?.iter();
        forms.find_map(|form| self.inner(form))
    }

    /// Every sound request that has a field, with its first field twice, as the text of its payload.
    pub(super) fn doubled(&self) -> Vec<(&str, String)> {
        let sound = self.sound.iter().filter_map(|(kind, payload)| {
            let (name, value) = payload.as_object()?.iter().next()?;
            let text = payload.to_string();
            Some((*kind, format!("{{{}:{value},{}", json!(name), &text[1..])))
        });
        sound.collect()
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
        // A whole number is a number as well.
        let is_taken =
            |kind: &str| types.contains(kind) || (kind == "integer" && types.contains("number"));
        let others = all.into_iter().filter(|(kind, _)| !is_taken(kind));
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
            () if of.contains("Its bytes, base64") => 88 * 1024,
            () if of.contains("at most 65536 bytes") => 64 * 1024 + 1,
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

/// The same with another value of one field, or without it.
fn changed(sound: &Value, name: &str, value: Option<Value>) -> Value {
    let mut payload = sound.clone();
    match value {
        Some(value) => payload[name] = value,
        None => drop(payload.as_object_mut().unwrap().remove(name)),
    }
    payload
}
