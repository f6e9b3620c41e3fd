//! Log lines for programs: one JSON object a line, with `timestamp`, `level`, `target`, `message`, the `fields` of the
//! event, and the `spans` around it, outermost first.

use std::fmt;

use estelle_proto::IsoTime;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::{LookupSpan, Scope};

use crate::client::now;

/// Writes events as JSON.
#[derive(Debug)]
pub(super) struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = Fields(Map::new());
        event.record(&mut fields);
        let Fields(mut fields) = fields;
        let metadata = event.metadata();
        let mut line = Map::new();
        let mut put = |name: &str, value: Value| line.insert(name.to_owned(), value);
        put("timestamp", json!(IsoTime::from(now())));
        put("level", json!(metadata.level().as_str()));
        put("target", target(metadata.target(), &mut fields));
        put("message", fields.remove("message").unwrap_or(json!("")));
        if !fields.is_empty() {
            put("fields", Value::Object(fields));
        }
        let spans = context.event_scope().into_iter();
        let spans = spans.flat_map(Scope::from_root).map(|span| {
            let extensions = span.extensions();
            let said = extensions.get::<FormattedFields<N>>();
            json!({"name": span.name(), "fields": said.map_or("", |said| said.fields.as_str())})
        });
        let spans: Vec<Value> = spans.collect();
        if !spans.is_empty() {
            put("spans", Value::Array(spans));
        }
        writeln!(writer, "{}", Value::Object(line))
    }
}

/// Who logs. Libraries that log in the older way are named by a field.
fn target(own: &str, fields: &mut Map<String, Value>) -> Value {
    if own != "log" {
        return json!(own);
    }
    let named = fields.remove("log.target");
    fields.retain(|name, _| !name.starts_with("log."));
    named.unwrap_or_else(|| json!(own))
}

struct Fields(Map<String, Value>);

impl Fields {
    fn put(&mut self, field: &Field, value: Value) {
        self.0.insert(field.name().to_owned(), value);
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, json!(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, json!(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, json!(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, json!(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, json!(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, json!(value));
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::Arc;

    use super::*;

    /// What is written while something runs.
    fn logged(work: impl FnOnce()) -> Vec<Value> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let lines = tracing_subscriber::fmt()
            .with_ansi(false)
            .event_format(JsonLines)
            .with_writer(Arc::new(File::create(&path).unwrap()))
            .finish();
        tracing::subscriber::with_default(lines, work);
        let text = std::fs::read_to_string(path).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    }

    #[test]
    fn a_line_is_an_object_whatever_is_said() {
        let lines = logged(|| {
            let span = tracing::info_span!("connection", device = 7);
            let _inside = span.enter();
            tracing::warn!(
                count = 3,
                is_new = true,
                name = "a\"b\nc\u{1b}",
                level = "mine",
                "two\nlines"
            );
        });
        let [line] = lines.as_slice() else {
            panic!("{lines:?}");
        };
        let fields = json!({"count": 3, "is_new": true, "name": "a\"b\nc\u{1b}", "level": "mine"});
        assert_eq!(line["fields"], fields);
        assert_eq!(
            (&line["level"], &line["message"]),
            (&json!("WARN"), &json!("two\nlines"))
        );
        assert_eq!(line["target"], json!("estelle::logging::lines::tests"));
        let spans = json!([{"name": "connection", "fields": "device=7"}]);
        assert_eq!(line["spans"], spans);
        let at = line["timestamp"].as_str().unwrap();
        assert!(at.contains('T') && at.ends_with('Z'), "{at}");
    }
}
