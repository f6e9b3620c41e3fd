//! A tool written in Rust that the model can call, and a hook that watches every tool.
//!
//! `cargo run -p estelle-claude --example own_tool -- "What is 17 times 23? Use your tools."`

use estelle_claude::mcp::{ToolResult, create_sdk_mcp_server, tool};
use estelle_claude::options::{HookMatcher, Options};
use estelle_claude::wire::{HookEvent, HookOutput};
use estelle_claude::{Body, query};
use futures_util::StreamExt;

/// What the tool takes; the model sees the schema and these comments.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Product {
    /// The first factor.
    a: i64,
    /// The second factor.
    b: i64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let multiply = tool(
        "multiply",
        "Multiplies two whole numbers",
        async |input: Product| {
            Ok(ToolResult::text(
                input.a.saturating_mul(input.b).to_string(),
            ))
        },
    );
    let server = create_sdk_mcp_server("sums", "1.0.0", [multiply])?;
    let watch = HookMatcher::any().callback(|_input, tool_use_id, _context| async move {
        eprintln!(
            "a tool is about to run: {}",
            tool_use_id.unwrap_or_default()
        );
        HookOutput::default()
    });
    let options = Options::new()
        .mcp_server("sums", server.with_always_load())
        .allowed_tools(["mcp__sums__multiply"])
        .hook(HookEvent::PreToolUse, watch);
    let prompt = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "What is 17 times 23? Use your tools.".to_owned());
    let mut query = query(prompt, options).await?;
    while let Some(message) = query.next().await {
        if let Body::Result(result) = message?.body {
            println!("{}", result.text());
        }
    }
    Ok(())
}
