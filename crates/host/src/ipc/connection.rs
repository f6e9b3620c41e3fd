//! One client, from its hello to its end.
//!
//! Two halves run side by side: one reads commands, one sends what is in the mailbox. When the client has said all, what
//! it still waits for is sent; when it does not read, it is cut off; when the host stops, what waits goes out first.

use std::sync::Arc;
use std::time::Duration;

use estelle_proto::ipc::Hello;
use estelle_proto::{ApiError, ErrorCode, ErrorReport, HostToPylon, PylonToHost, Retry, limits};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::desk::Desk;
use super::lines::Lines;
use super::parse::parse;
use super::read::Reader;
use super::write::{FAREWELL, carry};
use crate::mailbox::{Letter, Mailbox, mailbox};

/// How long a client may take to say hello.
const HELLO: Duration = Duration::from_secs(limits::HELLO_SECONDS as u64);

/// Serves a client until it or the host has enough.
pub(super) async fn attend<D: Desk>(
    from: impl AsyncRead + Unpin,
    to: impl AsyncWrite + Unpin,
    desk: Arc<D>,
    stop: CancellationToken,
) {
    let (mailbox, mail) = mailbox();
    let listen = async {
        listen(from, desk, &mailbox, &stop).await;
        mailbox.finish();
        // What waits is sent by the other half, which then ends both.
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = carry(to, mail) => {}
        () = listen => {}
    }
}

async fn listen<D: Desk>(
    from: impl AsyncRead + Unpin,
    desk: Arc<D>,
    mailbox: &Mailbox,
    stop: &CancellationToken,
) {
    // Strangers are not listened to for long.
    let mut lines = Lines::new(from, limits::MAX_UNAUTHENTICATED_FRAME_BYTES);
    let hello = tokio::select! {
        biased;
        () = stop.cancelled() => return,
        hello = tokio::time::timeout(HELLO, greet(&mut lines)) => hello,
    };
    let hello = match hello {
        Ok(Ok(Some(hello))) => hello,
        Ok(Ok(None)) => return,
        Ok(Err(report)) => return tell(mailbox, &report.into()),
        Err(_) => return tell(mailbox, &ErrorReport::from(no_hello()).into()),
    };
    tracing::debug!(build = %hello.build, protocol = hello.protocol, "a client says hello");
    lines.set_limit(limits::MAX_IPC_LINE_BYTES);
    tell(mailbox, &own_hello().into());
    let _enlisted = desk.enlist(mailbox.clone());
    let mut reader = Reader::new(desk, mailbox.clone());
    let run = reader.run(&mut lines, stop);
    let too_late = async {
        stop.cancelled().await;
        tokio::time::sleep(FAREWELL).await;
    };
    tokio::select! {
        () = run => {}
        () = too_late => {}
    }
}

/// Waits for the client's hello; nothing if it left without one.
async fn greet(lines: &mut Lines<impl AsyncRead + Unpin>) -> Result<Option<Hello>, ErrorReport> {
    let Ok(Some(line)) = lines.next().await else {
        return Ok(None);
    };
    let command = parse(&line)?;
    let PylonToHost::Hello(hello) = command else {
        return Err(ErrorReport {
            about: Some(command.kind().to_owned()),
            request_id: command.request_id().cloned(),
            ..no_hello().into()
        });
    };
    match own_hello().common(&hello) {
        Some(_) => Ok(Some(hello)),
        None => Err(mismatch(&hello).into()),
    }
}

fn own_hello() -> Hello {
    let build = env!("CARGO_PKG_VERSION").to_owned();
    Hello::of_this_build(build, vec!["subscribe".to_owned(), "resume".to_owned()])
}

fn mismatch(hello: &Hello) -> ApiError {
    let (oldest, newest) = (limits::IPC_OLDEST_PROTOCOL, limits::IPC_PROTOCOL);
    let ours = if oldest == newest {
        format!("version {newest}")
    } else {
        format!("versions {oldest} to {newest}")
    };
    let text = format!(
        "the host speaks {ours} of the protocol and the client version {}: use builds that go together",
        hello.protocol
    );
    ApiError::new(ErrorCode::ProtocolMismatch, text, Retry::Never)
}

fn no_hello() -> ApiError {
    let text = format!(
        "the first line must be `hello` and come within {} seconds",
        limits::HELLO_SECONDS
    );
    ApiError::new(ErrorCode::InvalidMessage, text, Retry::Now)
}

fn tell(mailbox: &Mailbox, message: &HostToPylon) {
    // A client that is gone misses nothing.
    let _ = mailbox.post(Letter::message(message));
}
