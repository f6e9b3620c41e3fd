//! One tool of an in-process server: its description, its input schema and the Rust function behind it.
//!
//! A tool is a value that can be cloned and put into any number of servers. It checks its input against the Rust type
//! it was made for; what calls it, and what happens when it fails or panics, is `builtin`'s part.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::schema;
use super::tool_result::{ToolError, ToolResult};

type Handler = dyn Fn(ToolCall) -> BoxFuture<'static, Result<ToolResult, ToolError>> + Send + Sync;

/// A function the model can call.
#[derive(Clone)]
pub struct Tool {
    name: String,
    description: String,
    input_schema: Value,
    output_schema: Option<Value>,
    annotations: ToolAnnotations,
    meta: Map<String, Value>,
    handler: Arc<Handler>,
}

/// What a handler can learn about the call it serves.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The arguments as the model wrote them.
    pub arguments: Value,
    /// The id of the model's tool use, which permission requests and messages name too.
    pub tool_use_id: Option<String>,
    /// All of the request's `_meta`.
    pub meta: Map<String, Value>,
}

/// Hints about what a tool does. The CLI uses them to decide what may run in parallel or without asking.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnnotations {
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it again with the same input changes nothing more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It reaches beyond this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// The input of a tool that takes nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct NoInput {}

impl JsonSchema for NoInput {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NoInput".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = schemars::Schema::default();
        if let Value::Object(map) = schema::empty_object() {
            map.into_iter()
                .for_each(|(key, value)| drop(schema.insert(key, value)));
        }
        schema
    }
}

/// Makes a tool of an async function. Its input type gives the schema; doc comments on the type's fields become the
/// descriptions the model reads.
///
/// ```
/// use estelle_claude::mcp::{ToolError, tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add {
///     /// The first number.
///     a: i64,
///     /// The number added to it.
///     b: i64,
/// }
///
/// let add = tool("add", "Adds two numbers.", async |input: Add| {
///     let sum = input.a.checked_add(input.b).ok_or_else(|| ToolError::new("the sum is too large"))?;
///     Ok(sum.to_string())
/// });
/// assert_eq!(add.input_schema()["required"], serde_json::json!(["a", "b"]));
/// ```
pub fn tool<I, R, F, Fut>(
    name: impl Into<String>,
    description: impl Into<String>,
    handler: F,
) -> Tool
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    R: Into<ToolResult>,
    F: Fn(I) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
{
    Tool::with_call(name, description, move |input, _| handler(input))
}

impl Tool {
    /// Like [`tool`], for a handler that also wants to know about the call.
    ///
    /// ```
    /// use estelle_claude::mcp::{NoInput, Tool};
    ///
    /// let tool = Tool::with_call("whoami", "Tells the call's id.", |_: NoInput, call| async move {
    ///     Ok(call.tool_use_id.unwrap_or_default())
    /// });
    /// assert_eq!(tool.name(), "whoami");
    /// ```
    pub fn with_call<I, R, F, Fut>(
        name: impl Into<String>,
        description: impl Into<String>,
        handler: F,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        R: Into<ToolResult>,
        F: Fn(I, ToolCall) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        Self::from_schema(
            name,
            description,
            schema::schema_of::<I>(),
            move |call: ToolCall| {
                let started = read_input(&call.arguments).map(|input| handler(input, call));
                async move { started?.await.map(Into::into) }
            },
        )
    }

    /// A tool whose input is described by a schema at hand and read by the handler itself.
    ///
    /// ```
    /// use estelle_claude::mcp::Tool;
    /// use serde_json::json;
    ///
    /// let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    /// let echo = Tool::from_schema("echo", "Says it back.", schema, |call| async move {
    ///     Ok(call.arguments["text"].as_str().unwrap_or_default().to_owned())
    /// });
    /// assert_eq!(echo.name(), "echo");
    /// ```
    pub fn from_schema<R, F, Fut>(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
        handler: F,
    ) -> Self
    where
        R: Into<ToolResult>,
        F: Fn(ToolCall) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let handler = move |call| -> BoxFuture<'static, Result<ToolResult, ToolError>> {
            let outcome = handler(call);
            Box::pin(async move { outcome.await.map(Into::into) })
        };
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
            output_schema: None,
            annotations: ToolAnnotations::default(),
            meta: Map::new(),
            handler: Arc::new(handler),
        }
    }

    /// Sets the hints about what it does.
    #[must_use]
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = annotations;
        self
    }

    /// Says that it changes nothing, so that it may run beside other tools.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.annotations.read_only_hint = Some(true);
        self
    }

    /// Declares the type of its structured content. Every result must then carry such content.
    #[must_use]
    pub fn output_type<O: JsonSchema>(mut self) -> Self {
        self.output_schema = Some(schema::schema_of::<O>());
        self
    }

    /// Keeps it in every prompt instead of behind tool search.
    #[must_use]
    pub fn always_load(self) -> Self {
        self.meta("anthropic/alwaysLoad", true)
    }

    /// Words under which tool search finds it.
    #[must_use]
    pub fn search_hint(self, hint: impl Into<String>) -> Self {
        self.meta("anthropic/searchHint", hint.into())
    }

    /// Sets a field of its `_meta`.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(key.into(), value.into());
        self
    }

    /// Its name, without the `mcp__<server>__` prefix.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The JSON Schema of its input.
    pub fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    /// Its entry in the answer to `tools/list`.
    pub(super) fn listing(&self) -> Value {
        let mut entry = Map::new();
        entry.insert("name".into(), self.name.as_str().into());
        entry.insert("description".into(), self.description.as_str().into());
        entry.insert("inputSchema".into(), self.input_schema.clone());
        if let Some(schema) = &self.output_schema {
            entry.insert("outputSchema".into(), schema.clone());
        }
        if self.annotations != ToolAnnotations::default() {
            // Optional strings and booleans always have a JSON form.
            entry.insert(
                "annotations".into(),
                serde_json::to_value(&self.annotations).unwrap_or_default(),
            );
        }
        if !self.meta.is_empty() {
            entry.insert("_meta".into(), Value::Object(self.meta.clone()));
        }
        Value::Object(entry)
    }

    pub(super) fn run(&self, call: ToolCall) -> BoxFuture<'static, Result<ToolResult, ToolError>> {
        (self.handler)(call)
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.name)
            .field("description", &self.description)
            .finish_non_exhaustive()
    }
}

/// Reads the arguments as `I`; the error names the field, so that the model can mend its call.
fn read_input<I: DeserializeOwned>(arguments: &Value) -> Result<I, ToolError> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let reason = error.into_inner();
        if path == "." {
            ToolError::new(format!("invalid input: {reason}"))
        } else {
            ToolError::new(format!("invalid input at `{path}`: {reason}"))
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    struct Trip {
        stops: Vec<Stop>,
    }

    #[derive(Deserialize, JsonSchema)]
    struct Stop {
        nights: u8,
    }

    #[test]
    fn input_errors_name_the_field() {
        for (arguments, expected) in [
            (json!({}), "invalid input: missing field `stops`"),
            (
                json!({"stops": [{"nights": 1}, {"nights": "two"}]}),
                "invalid input at `stops[1].nights`: invalid type: string \"two\", expected u8",
            ),
            (
                json!({"stops": [{}]}),
                "invalid input at `stops[0]`: missing field `nights`",
            ),
        ] {
            let error = read_input::<Trip>(&arguments)
                .map(|trip| trip.stops[0].nights)
                .expect_err("wrong input");
            assert_eq!(error.message(), expected);
        }
    }

    #[test]
    fn a_listing_has_what_was_set_and_nothing_else() {
        let plain = tool("t", "d", async |_: NoInput| Ok(""));
        let schema = json!({"type": "object", "properties": {}});
        assert_eq!(
            plain.listing(),
            json!({"name": "t", "description": "d", "inputSchema": schema})
        );

        let full = plain
            .read_only()
            .always_load()
            .search_hint("foo")
            .output_type::<NoInput>();
        assert_eq!(
            full.listing(),
            json!({
                "name": "t", "description": "d", "inputSchema": schema, "outputSchema": schema,
                "annotations": {"readOnlyHint": true},
                "_meta": {"anthropic/alwaysLoad": true, "anthropic/searchHint": "foo"},
            })
        );
    }
}
