//! The sending half of a connection: carries letters from the mailbox to the socket.
//!
//! Small lines go out together. It ends when the mailbox does, when the client is gone, or when a client that was cut
//! off does not even read why.

use std::sync::Arc;
use std::time::Duration;

use estelle_proto::HostToPylon;
use estelle_proto::ipc::{CutOff, to_line};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use crate::mailbox::{Mail, MailReader};

/// Lines are gathered up to this many bytes before they are written.
const BATCH: usize = 64 * 1024;

/// How long a client may take to read the rest once nothing more is coming.
pub(super) const FAREWELL: Duration = Duration::from_secs(5);

/// Sends what comes until the end.
pub(super) async fn carry(to: impl AsyncWrite + Unpin, mail: MailReader) {
    let closing = mail.closing();
    let too_late = async {
        closing.cancelled().await;
        tokio::time::sleep(FAREWELL).await;
    };
    tokio::select! {
        biased;
        sent = send_all(to, mail) => {
            if let Err(error) = sent {
                tracing::debug!(%error, "the client is gone");
            }
        }
        () = too_late => tracing::debug!("the client did not read the rest"),
    }
}

async fn send_all(mut to: impl AsyncWrite + Unpin, mut mail: MailReader) -> std::io::Result<()> {
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        let mut next = Some(mail.next().await);
        while let Some(piece) = next {
            let line = match piece {
                Mail::Line(line) => line,
                Mail::CutOff(cursors) => {
                    tracing::warn!("the client reads too slowly and is cut off");
                    let notice = to_line(&HostToPylon::CutOff(CutOff::new(cursors)));
                    batch.extend_from_slice(notice.unwrap_or_default().as_bytes());
                    return finish(&mut to, &mut batch).await;
                }
                Mail::End => return finish(&mut to, &mut batch).await,
            };
            add(&mut to, &mut batch, line).await?;
            // Whatever is ready goes along.
            next = mail.take();
        }
        flush(&mut to, &mut batch).await?;
    }
}

async fn add(
    to: &mut (impl AsyncWrite + Unpin),
    batch: &mut Vec<u8>,
    line: Arc<str>,
) -> std::io::Result<()> {
    if batch.len() + line.len() > BATCH {
        flush(to, batch).await?;
    }
    if line.len() > BATCH {
        return to.write_all(line.as_bytes()).await;
    }
    batch.extend_from_slice(line.as_bytes());
    Ok(())
}

async fn flush(to: &mut (impl AsyncWrite + Unpin), batch: &mut Vec<u8>) -> std::io::Result<()> {
    to.write_all(batch).await?;
    batch.clear();
    Ok(())
}

async fn finish(to: &mut (impl AsyncWrite + Unpin), batch: &mut Vec<u8>) -> std::io::Result<()> {
    flush(to, batch).await?;
    to.shutdown().await
}
