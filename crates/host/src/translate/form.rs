//! Forms of tool servers: from the texts that a person wrote to the values that the form wants.
//!
//! The tool protocol allows flat forms only: texts, numbers, yes or no, and choices. What a form does not say is left alone;
//! what it says is kept to, so that a server is not handed something that it must refuse after the person has gone.

use std::collections::BTreeMap;

use estelle_proto::Choice;
use serde_json::{Map, Value};

/// Why a form cannot be sent as it was filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormError {
    /// It has no such field.
    #[error("the form has no field `{name}`; it has {known}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// Those there are.
        known: String,
    },
    /// A field must be filled in.
    #[error("the field `{name}` must be filled in, or deny the form")]
    Missing {
        /// Which.
        name: String,
    },
    /// A value is not of its kind.
    #[error("`{value}` is not what the field `{name}` takes: {wanted}")]
    Wrong {
        /// Which field.
        name: String,
        /// What was written.
        value: String,
        /// What it takes, for people.
        wanted: String,
    },
}

/// The values of a form. `schema` is what the server asks for; without one every value is a text.
pub(super) fn fill(
    schema: Option<&Value>,
    fields: &BTreeMap<String, Choice>,
) -> Result<BTreeMap<String, Value>, FormError> {
    let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
    let mut filled = BTreeMap::new();
    for (name, choice) in fields {
        let field = match properties {
            Some(properties) => Some(field(properties, name)?),
            None => None,
        };
        filled.insert(name.clone(), value(name, field, choice)?);
    }
    let required = schema.and_then(|schema| schema.get("required")?.as_array());
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        if !filled.contains_key(name) {
            let name = name.to_owned();
            return Err(FormError::Missing { name });
        }
    }
    Ok(filled)
}

fn field<'a>(properties: &'a Map<String, Value>, name: &str) -> Result<&'a Value, FormError> {
    properties.get(name).ok_or_else(|| {
        let known: Vec<_> = properties.keys().map(String::as_str).collect();
        FormError::Unknown {
            name: name.to_owned(),
            known: known.join(", "),
        }
    })
}

fn value(name: &str, field: Option<&Value>, choice: &Choice) -> Result<Value, FormError> {
    let text = choice.joined();
    let wrong = |wanted: &str| FormError::Wrong {
        name: name.to_owned(),
        value: text.clone(),
        wanted: wanted.to_owned(),
    };
    let Some(field) = field else {
        return Ok(text.into());
    };
    match field.get("type").and_then(Value::as_str) {
        Some("boolean") => match text.as_str() {
            "true" => Ok(true.into()),
            "false" => Ok(false.into()),
            _ => Err(wrong("true or false")),
        },
        Some("integer") => {
            let whole: i64 = text.trim().parse().map_err(|_| wrong("a whole number"))?;
            Ok(whole.into())
        }
        Some("number") => {
            let number: Result<serde_json::Number, _> = text.trim().parse();
            Ok(number.map_err(|_| wrong("a number"))?.into())
        }
        Some("array") => several(field, choice).ok_or_else(|| wrong(&listed(field.get("items")))),
        Some(_) | None => {
            let may_be = options(Some(field));
            if may_be.is_empty() || may_be.contains(&text.as_str()) {
                return Ok(text.into());
            }
            Err(wrong(&listed(Some(field))))
        }
    }
}

/// Several choices of those that a field offers.
fn several(field: &Value, choice: &Choice) -> Option<Value> {
    let chosen = match choice {
        Choice::One(label) => std::slice::from_ref(label),
        Choice::Several(labels) => labels.as_slice(),
    };
    let may_be = options(field.get("items"));
    let fits = |label: &String| may_be.is_empty() || may_be.contains(&label.as_str());
    chosen.iter().all(fits).then(|| chosen.to_vec().into())
}

/// The values that a field offers; none if it takes anything.
fn options(field: Option<&Value>) -> Vec<&str> {
    let list = |name: &str| field.and_then(|field| field.get(name)?.as_array());
    let plain = list("enum").into_iter().flatten().filter_map(Value::as_str);
    let titled = list("oneOf").or_else(|| list("anyOf"));
    let titled = titled.into_iter().flatten();
    let titled = titled.filter_map(|one| one.get("const")?.as_str());
    plain.chain(titled).collect()
}

fn listed(field: Option<&Value>) -> String {
    format!("one of {}", options(field).join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "size": {"type": "string", "enum": ["S", "M"]},
                "colour": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}]},
                "count": {"type": "integer"},
                "price": {"type": "number"},
                "gift": {"type": "boolean"},
                "extras": {"type": "array", "items": {"type": "string", "enum": ["bow", "card"]}},
            },
            "required": ["name"],
        })
    }

    fn filled(fields: &[(&str, &str)]) -> Result<Value, String> {
        let fields = fields.iter().map(|(name, value)| {
            let choice = match value.strip_prefix('+') {
                Some(several) => Choice::Several(several.split('+').map(str::to_owned).collect()),
                None => Choice::One((*value).to_owned()),
            };
            ((*name).to_owned(), choice)
        });
        let filled = fill(Some(&schema()), &fields.collect());
        filled
            .map(|filled| json!(filled))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn every_field_gets_a_value_of_its_kind() {
        let all = [
            ("name", "12"),
            ("size", "M"),
            ("colour", "r"),
            ("count", " 7 "),
            ("price", "2.50"),
            ("gift", "true"),
            ("extras", "+bow+card"),
        ];
        let wanted = json!({
            "name": "12", "size": "M", "colour": "r", "count": 7, "price": 2.5, "gift": true,
            "extras": ["bow", "card"],
        });
        assert_eq!(filled(&all), Ok(wanted));
        let one = json!({"name": "n", "extras": ["bow"]});
        assert_eq!(filled(&[("name", "n"), ("extras", "bow")]), Ok(one));
    }

    #[test]
    fn what_a_form_does_not_take_is_said_with_what_it_takes() {
        let table = [
            ("size", "L", "one of S, M"),
            ("colour", "Red", "one of r"),
            ("count", "2.5", "a whole number"),
            ("price", "cheap", "a number"),
            ("gift", "yes", "true or false"),
            ("extras", "+bow+ribbon", "one of bow, card"),
            ("nmae", "n", "it has colour, count"),
        ];
        for (name, value, wanted) in table {
            let refused = filled(&[("name", "n"), (name, value)]).unwrap_err();
            assert!(refused.contains(wanted), "{refused}");
            assert!(refused.contains(name), "{refused}");
        }
        let refused = filled(&[("count", "1")]).unwrap_err();
        assert!(refused.contains("`name` must be filled in"), "{refused}");
    }

    #[test]
    fn without_a_schema_everything_is_a_text() {
        let fields = BTreeMap::from([("count".to_owned(), Choice::One("7".to_owned()))]);
        let filled = fill(None, &fields).unwrap();
        assert_eq!(json!(filled), json!({"count": "7"}));
    }
}
