//! The calls that the program is made to do.

use std::path::Path;

use serde_json::{Value, json};

/// Stands in the prompt, so that the API knows the conversation.
pub(super) const MARK: &str = "estelle-canary";
/// The server in our process whose tool is called.
pub(super) const SERVER: &str = "canary";
/// Its tool.
pub(super) const PROBE: &str = "probe";
/// The name of that tool to the model.
const PROBE_TOOL: &str = "mcp__canary__probe";

/// One call.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) tool: &'static str,
    pub(super) input: Value,
    pub(super) need: Need,
}

/// What is asked of the program about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Every version has this tool, so we must be asked.
    Asked,
    /// A version may not have it; then it says so and runs nothing.
    AskedIfThere,
}

/// The calls, in order. `secret` holds what must not be read, `marker` must not come into being.
pub(super) fn calls(secret: &Path, marker: &Path) -> Vec<Call> {
    use Need::{Asked, AskedIfThere};
    let read = format!("cat {}", secret.display());
    let write = format!("touch {}", marker.display());
    let agent = json!({ "description": "canary", "prompt": "Say hello.", "subagent_type": "general-purpose" });
    [
        (
            "Bash",
            json!({ "command": read, "description": "canary" }),
            Asked,
        ),
        (
            "Bash",
            json!({ "command": write, "description": "canary" }),
            Asked,
        ),
        ("Read", json!({ "file_path": secret }), Asked),
        (
            "Write",
            json!({ "file_path": marker, "content": "canary" }),
            Asked,
        ),
        (PROBE_TOOL, json!({}), Asked),
        ("Glob", json!({ "pattern": "*" }), AskedIfThere),
        ("Grep", json!({ "pattern": "canary" }), AskedIfThere),
        (
            "WebFetch",
            json!({ "url": "http://127.0.0.1:9/", "prompt": "canary" }),
            AskedIfThere,
        ),
        ("Agent", agent, AskedIfThere),
        ("CronList", json!({}), AskedIfThere),
        ("TaskList", json!({}), AskedIfThere),
        (
            "ToolSearch",
            json!({ "query": "select:Read", "max_results": 1 }),
            AskedIfThere,
        ),
        ("EstelleUnknownTool", json!({}), AskedIfThere),
    ]
    .map(|(tool, input, need)| Call { tool, input, need })
    .into()
}

/// The prompt: for the API its mark, for the simulator the script.
pub(super) fn prompt(calls: &[Call]) -> String {
    let steps: Vec<Value> = calls
        .iter()
        .map(|call| json!({ "tool": call.tool, "input": call.input }))
        .chain([json!({ "say": "done" })])
        .collect();
    format!("{MARK} SCRIPT:{}", Value::from(steps))
}
