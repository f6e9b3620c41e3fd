//! JSON Schemas for tool inputs, from Rust types.
//!
//! What `schemars` writes is valid, with noise a model pays for: the dialect, the type's name as title, and number
//! formats that no validator but its own knows. This module takes that out and checks what the Messages API asks of a
//! tool: an object at the top. Doc comments on fields become descriptions and stay.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Number formats `schemars` writes; JSON Schema defines none of them.
const RUST_FORMATS: &[&str] = &[
    "int", "int8", "int16", "int32", "int64", "int128", "uint", "uint8", "uint16", "uint32",
    "uint64", "uint128", "float", "double",
];

/// The schema of `T` as a tool's input.
pub(super) fn schema_of<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    if let Value::Object(map) = &mut schema {
        map.remove("$schema");
        map.remove("title");
    }
    remove_rust_formats(&mut schema);
    schema
}

/// Whether a schema can be a tool's input: an object, and nothing the Messages API refuses at the top.
pub(super) fn is_object_schema(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
        && ["oneOf", "anyOf", "allOf"]
            .iter()
            .all(|key| schema.get(key).is_none())
}

fn remove_rust_formats(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    let is_noise = |format: &Value| {
        format
            .as_str()
            .is_some_and(|format| RUST_FORMATS.contains(&format))
    };
    if map.get("format").is_some_and(is_noise) {
        map.remove("format");
    }
    // Only places that hold schemas are entered: a `default` or `const` may hold any data.
    for key in [
        "properties",
        "patternProperties",
        "$defs",
        "dependentSchemas",
    ] {
        if let Some(Value::Object(schemas)) = map.get_mut(key) {
            schemas.values_mut().for_each(remove_rust_formats);
        }
    }
    for key in ["oneOf", "anyOf", "allOf", "prefixItems"] {
        if let Some(Value::Array(schemas)) = map.get_mut(key) {
            schemas.iter_mut().for_each(remove_rust_formats);
        }
    }
    for key in [
        "items",
        "additionalProperties",
        "not",
        "if",
        "then",
        "else",
        "contains",
        "propertyNames",
    ] {
        if let Some(inner) = map.get_mut(key) {
            remove_rust_formats(inner);
        }
    }
}

/// An object schema without properties, for a tool that takes nothing.
pub(super) fn empty_object() -> Value {
    let entries = [
        ("type", Value::from("object")),
        ("properties", Value::Object(Map::new())),
    ];
    Value::Object(
        entries
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Order {
        /// What to order.
        item: String,
        count: u32,
        price: Option<f64>,
        /// Where to.
        address: Vec<Address>,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Address {
        zip: i64,
        format: String,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Choice {
        A(String),
        B(u8),
    }

    #[test]
    fn a_struct_gives_a_clean_object_schema() {
        let schema = schema_of::<Order>();
        assert!(is_object_schema(&schema));
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "item": {"type": "string", "description": "What to order."},
                    "count": {"type": "integer", "minimum": 0},
                    "price": {"type": ["number", "null"]},
                    "address": {"type": "array", "description": "Where to.", "items": {"$ref": "#/$defs/Address"}},
                },
                "required": ["item", "count", "address"],
                "$defs": {
                    "Address": {
                        "type": "object",
                        "properties": {"zip": {"type": "integer"}, "format": {"type": "string"}},
                        "required": ["zip", "format"],
                    },
                },
            })
        );
    }

    #[test]
    fn what_is_no_object_is_refused() {
        assert!(!is_object_schema(&schema_of::<Choice>()));
        assert!(!is_object_schema(&schema_of::<String>()));
        assert!(!is_object_schema(&json!({"type": "object", "anyOf": []})));
        assert!(is_object_schema(&empty_object()));
    }

    #[test]
    fn data_that_looks_like_a_format_stays() {
        let mut schema = json!({"default": {"format": "int32"}, "format": "date-time"});
        remove_rust_formats(&mut schema);
        assert_eq!(
            schema,
            json!({"default": {"format": "int32"}, "format": "date-time"})
        );
    }
}
