//! The least that a relay must do: frames are unmasked and passed on to everybody else, and nothing in them is read.
//!
//! No rights, no limits, no names of senders. Only the first frame of a connection is answered, so that clients need not
//! know whom they talk to.

use std::io::IoSlice;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use crate::Outcome;

/// More than ever waits in a measurement.
const QUEUE: usize = 4096;
/// Frames that are handed to the socket at once.
const AT_ONCE: usize = 128;
const SWITCH: &[u8] =
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
const WELCOME: &str = r#"{"type":"auth_result","payload":{"success":true}}"#;

type Everybody = Arc<Mutex<Vec<mpsc::Sender<Bytes>>>>;

/// Runs until it is killed.
pub(crate) fn serve() -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("listening on {}", listener.local_addr()?);
        let (tasks, everybody) = (TaskTracker::new(), Everybody::default());
        loop {
            let (stream, _) = listener.accept().await?;
            tasks.spawn(connection(stream, everybody.clone(), tasks.clone()));
        }
    })
}

async fn connection(mut stream: TcpStream, everybody: Everybody, tasks: TaskTracker) {
    let mut head = Vec::with_capacity(1024);
    while !head.ends_with(b"\r\n\r\n") {
        if matches!(stream.read_buf(&mut head).await, Ok(0) | Err(_)) {
            return;
        }
    }
    if stream.set_nodelay(true).is_err() || stream.write_all(SWITCH).await.is_err() {
        return;
    }
    let (sender, receiver) = mpsc::channel(QUEUE);
    let own = {
        let mut all = everybody.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(sender);
        all.len() - 1
    };
    let (reader, writer) = stream.into_split();
    tasks.spawn(write(writer, receiver));
    read(reader, &everybody, own).await;
}

async fn read(mut reader: OwnedReadHalf, everybody: &Everybody, own: usize) {
    let mut buffer = Vec::with_capacity(4096);
    let mut is_new = true;
    while matches!(reader.read_buf(&mut buffer).await, Ok(1..)) {
        let mut done = 0;
        while let Some((frame, length)) = next(&buffer[done..]) {
            done += length;
            let all = everybody.lock().unwrap_or_else(PoisonError::into_inner);
            for (nth, other) in all.iter().enumerate() {
                if is_new && nth == own {
                    let _ = other.try_send(text(WELCOME.as_bytes().to_vec()));
                } else if !is_new && nth != own {
                    let _ = other.try_send(frame.clone());
                }
            }
            is_new = false;
        }
        buffer.drain(..done);
    }
}

/// The first frame of a client, unmasked, and how long it was.
fn next(bytes: &[u8]) -> Option<(Bytes, usize)> {
    let (begin, length) = match bytes.get(1)? & 0x7f {
        126 => (
            4,
            usize::from(u16::from_be_bytes(*bytes.get(2..4)?.first_chunk()?)),
        ),
        short => (2, usize::from(short)),
    };
    let mask: [u8; 4] = *bytes.get(begin..)?.first_chunk()?;
    let end = begin + 4 + length;
    let mut payload = bytes.get(begin + 4..end)?.to_vec();
    for (byte, key) in payload.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= key;
    }
    Some((text(payload), end))
}

fn text(payload: Vec<u8>) -> Bytes {
    let mut frame = vec![0x81];
    match u16::try_from(payload.len()) {
        Ok(length @ 126..) => {
            frame.push(126);
            frame.extend(length.to_be_bytes());
        }
        _ => frame.push(u8::try_from(payload.len()).unwrap_or_default()),
    }
    frame.extend(payload);
    frame.into()
}

async fn write(mut writer: OwnedWriteHalf, mut frames: mpsc::Receiver<Bytes>) {
    let mut batch = Vec::new();
    while frames.recv_many(&mut batch, AT_ONCE).await > 0 {
        let mut slices: Vec<IoSlice<'_>> = batch.iter().map(|frame| IoSlice::new(frame)).collect();
        let mut rest = &mut slices[..];
        while !rest.is_empty() {
            match writer.write_vectored(rest).await {
                Ok(count) => IoSlice::advance_slices(&mut rest, count),
                Err(_) => return,
            }
        }
        batch.clear();
    }
}
