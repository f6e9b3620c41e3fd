//! Ours, as an application uses it: one session on a single-threaded runtime.

use std::error::Error;

use estelle_claude::framing::Frame;
use estelle_claude::options::Options;
use estelle_claude::wire::StreamEvent;
use estelle_claude::{Body, Session};

use crate::measure::{Clocks, Delivered, Report};

type Outcome = Result<Report, Box<dyn Error>>;

const ENDED: &str = "the replayer ended before its result";

/// Every message decoded into its type.
pub(crate) fn typed(replayer: &str) -> Outcome {
    run(async |clocks| {
        let mut session = start(replayer).await?;
        let delivered = read_turn(&mut session).await?;
        let report = clocks.stop(delivered);
        session.close().await;
        Ok(report)
    })
}

/// Raw lines, with a look at the type of each.
pub(crate) fn lines(replayer: &str) -> Outcome {
    run(async |clocks| {
        let mut session = start(replayer).await?;
        let mut delivered = Delivered::default();
        loop {
            let Frame::Line(line) = session.next_frame().await.ok_or(ENDED)?? else {
                return Err("a line was damaged".into());
            };
            delivered.messages += 1;
            if line.kind().as_deref() == Some("result") {
                break;
            }
        }
        let report = clocks.stop(delivered);
        session.close().await;
        Ok(report)
    })
}

/// Every permission allowed by a callback.
pub(crate) fn permissions(replayer: &str) -> Outcome {
    typed(replayer)
}

/// So many conversations open at the same time, each after its first turn.
pub(crate) fn idle(replayer: &str, sessions: usize) -> Outcome {
    run(async |clocks| {
        let mut open = Vec::with_capacity(sessions);
        let mut delivered = Delivered::default();
        for _ in 0..sessions {
            let mut session = start(replayer).await?;
            delivered.messages += read_turn(&mut session).await?.messages;
            open.push(session);
        }
        let report = clocks.stop(delivered);
        for session in open {
            session.close().await;
        }
        Ok(report)
    })
}

fn run(consume: impl AsyncFnOnce(Clocks) -> Outcome) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(consume(Clocks::start()))
}

async fn start(replayer: &str) -> Result<Session, Box<dyn Error>> {
    let options = Options::new()
        .path_to_claude_code_executable(replayer)
        .include_partial_messages(true)
        .can_use_tool(async |request, _| request.allow());
    let session = Session::start(options).await?;
    session.send("go").await?;
    Ok(session)
}

async fn read_turn(session: &mut Session) -> Result<Delivered, Box<dyn Error>> {
    let mut delivered = Delivered::default();
    loop {
        let message = session.next().await.ok_or(ENDED)??;
        delivered.messages += 1;
        if let Body::StreamEvent(line) = &message.body
            && matches!(line.event, StreamEvent::ContentBlockDelta(_))
        {
            delivered.deltas += 1;
        }
        if matches!(message.body, Body::Result(_)) {
            return Ok(delivered);
        }
    }
}
