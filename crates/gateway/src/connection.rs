//! One connection of HTTP, with a limit on everything a stranger can draw out. The time of a request is counted for itself:
//! a connection that is used for long is not cut in the middle of an answer.

use std::convert::Infallible;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tracing::debug;

use crate::respond::{Answer, late};

/// The headers must be there by then, also those of the next request.
const HEADER_TIME: Duration = Duration::from_secs(5);
/// Longer than any request may take.
const REQUEST_TIME: Duration = Duration::from_mins(2);
/// A connection that is so old takes no further request; what it is about to answer it answers.
const AGE: Duration = Duration::from_mins(10);
/// Then it has as long for that as for a request, and to be read.
const PARTING: Duration = Duration::from_mins(3);
const HEADER_BYTES: usize = 16 * 1024;
const MOST_HEADERS: usize = 64;

/// Answers what comes over a connection, until it becomes a WebSocket or is over.
pub(crate) async fn serve<S, F>(stream: S, answer: impl Fn(Request<Incoming>) -> F)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    F: Future<Output = Answer>,
{
    let service = service_fn(|request| {
        let answer = in_time(answer(request));
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(HEADER_BYTES)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let served = tokio::select! {
        served = connection.as_mut() => Ok(served),
        () = tokio::time::sleep(AGE) => {
            connection.as_mut().graceful_shutdown();
            tokio::time::timeout(PARTING, connection).await
        }
    };
    match served {
        Ok(Ok(())) => {}
        Ok(Err(error)) => debug!(%error, "HTTP ended"),
        Err(_) => debug!("an answer was not taken"),
    }
}

/// An answer that comes in time. What a request began goes on: whoever asks again is told what became of it.
async fn in_time(answer: impl Future<Output = Answer>) -> Answer {
    let answered = tokio::time::timeout(REQUEST_TIME, answer).await;
    answered.unwrap_or_else(|_| {
        debug!("a request took too long");
        late()
    })
}

#[cfg(test)]
mod tests {
    use hyper::StatusCode;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

    use super::*;

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

    /// Asks, and gives the first line of the answer; nothing if the connection is over.
    async fn ask(client: &mut DuplexStream) -> String {
        if client.write_all(REQUEST).await.is_err() {
            return String::new();
        }
        let mut bytes = vec![0; 64 * 1024];
        let count = client.read(&mut bytes).await.unwrap_or(0);
        let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
        text.lines().next().unwrap_or_default().to_owned()
    }

    async fn slow(time: Duration) -> Answer {
        let never = std::future::pending::<()>();
        // The time is paused: nobody waits for it.
        let _ = tokio::time::timeout(time, never).await;
        crate::respond::page(StatusCode::OK, "text/plain", "done")
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_is_used_for_long_is_not_cut_in_the_middle_of_a_request() {
        let (mut client, server) = tokio::io::duplex(64 * 1024);
        let serving = serve(server, |_| slow(Duration::from_secs(100)));
        let asking = async {
            for _ in 0..6 {
                assert_eq!(ask(&mut client).await, "HTTP/1.1 200 OK");
            }
            // It is old by now: the next one needs another connection.
            assert_eq!(ask(&mut client).await, "");
        };
        tokio::join!(serving, asking);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_takes_too_long_is_answered_so() {
        let (mut client, server) = tokio::io::duplex(64 * 1024);
        let serving = serve(server, |_| slow(Duration::from_mins(5)));
        let asking = async {
            assert_eq!(ask(&mut client).await, "HTTP/1.1 504 Gateway Timeout");
            drop(client);
        };
        tokio::join!(serving, asking);
    }
}
