//! The smallest use: one prompt, the answer as it is written, what it cost.
//!
//! `cargo run -p estelle-claude --example hello -- "What is in this folder?"`

use std::io::Write;

use estelle_claude::options::Options;
use estelle_claude::{Body, query};
use futures_util::StreamExt;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prompt = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "Say hello.".to_owned());
    let options = Options::new().include_partial_messages(true);
    let mut query = query(prompt, options).await?;
    while let Some(message) = query.next().await {
        let message = message?;
        if let Body::StreamEvent(event) = &message.body {
            print!("{}", event.text_delta().unwrap_or_default());
            std::io::stdout().flush()?;
        }
        if let Body::Result(result) = &message.body {
            println!("\n{:.4} $", result.total_cost_usd().unwrap_or_default());
        }
    }
    Ok(())
}
