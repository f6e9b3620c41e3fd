//! Shapes of messages, written down by hand from the specification of the protocol, and held against what came.
//!
//! A shape is JSON: an object names its fields, `field?` may be missing, and no other field may be there; a list of one
//! shape is a list of such things; a text is a type or several with `|` between them.

use serde_json::Value;

/// Fails unless a value has exactly this shape.
#[track_caller]
pub(crate) fn check(value: &Value, shape: &Value) {
    if let Err(why) = fits(value, shape, "") {
        panic!("{why} in {value:#}");
    }
}

fn fits(value: &Value, shape: &Value, at: &str) -> Result<(), String> {
    match (shape, value) {
        (Value::String(types), _) => {
            let fit = types.split('|').any(|wanted| is_a(value, wanted));
            fit.then_some(())
                .ok_or_else(|| format!("`{at}` is no {types}"))
        }
        (Value::Array(item), Value::Array(values)) => {
            let mut values = values.iter().enumerate();
            values.try_for_each(|(index, value)| fits(value, &item[0], &format!("{at}[{index}]")))
        }
        (Value::Object(fields), Value::Object(values)) => {
            for (name, wanted) in fields {
                let (name, is_optional) = match name.strip_suffix('?') {
                    Some(name) => (name, true),
                    None => (name.as_str(), false),
                };
                match values.get(name) {
                    Some(value) => fits(value, wanted, &format!("{at}.{name}"))?,
                    None if is_optional => {}
                    None => return Err(format!("`{at}.{name}` is missing")),
                }
            }
            let is_known =
                |name: &str| fields.contains_key(name) || fields.contains_key(&format!("{name}?"));
            match values.keys().find(|name| !is_known(name)) {
                Some(name) => Err(format!("`{at}.{name}` does not belong there")),
                None => Ok(()),
            }
        }
        _ => Err(format!("`{at}` is something else than {shape}")),
    }
}

fn is_a(value: &Value, wanted: &str) -> bool {
    match wanted {
        "any" => true,
        "null" => value.is_null(),
        "bool" => value.is_boolean(),
        "string" => value.is_string(),
        "id" => value.as_str().is_some_and(|text| !text.is_empty()),
        "number" => value.is_number(),
        "count" => value.is_u64(),
        // Between 2020 and 2200, in milliseconds.
        "ms" => value
            .as_u64()
            .is_some_and(|at| (1_577_836_800_000..7_258_118_400_000).contains(&at)),
        "iso" => value.as_str().is_some_and(is_iso),
        // Everything else stands for itself.
        word => value == word,
    }
}

/// `2026-01-25T10:00:00.000Z`.
fn is_iso(text: &str) -> bool {
    let digits: String = text
        .chars()
        .map(|letter| if letter.is_ascii_digit() { '0' } else { letter })
        .collect();
    matches!(
        digits.as_str(),
        "0000-00-00T00:00:00.000Z" | "0000-00-00T00:00:00Z"
    )
}

#[test]
fn a_shape_refuses_what_is_missing_wrong_or_too_much() {
    let shape =
        serde_json::json!({"a": "count", "b?": ["string|null"], "c": {"d": "idle|working"}});
    let fits = |text: &str| super::shape::fits(&serde_json::from_str(text).unwrap(), &shape, "");
    fits(r#"{"a": 1, "c": {"d": "idle"}}"#).unwrap();
    fits(r#"{"a": 1, "b": ["x", null], "c": {"d": "working"}}"#).unwrap();
    for bad in [
        r#"{"c": {"d": "idle"}}"#,
        r#"{"a": -1, "c": {"d": "idle"}}"#,
        r#"{"a": 1, "c": {"d": "busy"}}"#,
        r#"{"a": 1, "c": {}}"#,
        r#"{"a": 1, "b": [1], "c": {"d": "idle"}}"#,
        r#"{"a": 1, "x": 1, "c": {"d": "idle"}}"#,
        r#"{"a": 1, "c": {"d": "idle", "e": null}}"#,
    ] {
        fits(bad).unwrap_err();
    }
}
