//! A client with as little of its own as possible: blocking or polled sockets, frames written and counted by hand.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Outcome;

/// An answer comes sooner, or never.
const PATIENCE: Duration = Duration::from_secs(20);
/// What is read at once.
const CHUNK: usize = 256 * 1024;

/// A connection that has joined.
#[derive(Debug)]
pub(crate) struct Client {
    stream: TcpStream,
    /// What was read and not yet counted.
    buffer: Vec<u8>,
}

/// A text frame as a client must send it. The mask is nothing but zeros, which is valid and costs the sender nothing.
pub(crate) fn frame(text: &str) -> Vec<u8> {
    let mut frame = vec![0x81];
    match u16::try_from(text.len()) {
        Ok(length @ 0..=125) => frame.push(0x80 | u8::try_from(length).unwrap_or_default()),
        Ok(length) => {
            frame.push(0xfe);
            frame.extend(length.to_be_bytes());
        }
        Err(_) => {
            frame.push(0xff);
            frame.extend((text.len() as u64).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(text.as_bytes());
    frame
}

/// The first frame from a server: whether it is text, where its payload begins and where it ends.
pub(crate) fn first_frame(bytes: &[u8]) -> Option<(bool, usize, usize)> {
    let is_text = bytes.first()? & 0x0f == 1;
    let (begin, length) = match bytes.get(1)? & 0x7f {
        126 => {
            let length = bytes.get(2..4)?.first_chunk::<2>()?;
            (4, usize::from(u16::from_be_bytes(*length)))
        }
        127 => {
            let length = bytes.get(2..10)?.first_chunk::<8>()?;
            (10, usize::try_from(u64::from_be_bytes(*length)).ok()?)
        }
        short => (2, usize::from(short)),
    };
    let end = begin + length;
    (bytes.len() >= end).then_some((is_text, begin, end))
}

impl Client {
    /// Connects, says who it is, and waits until it is let in.
    pub(crate) fn join(address: SocketAddr, auth: &str) -> Outcome<Self> {
        let mut client = Self::connect(address)?;
        client.send(&frame(auth))?;
        loop {
            let text = client.next_text()?;
            let message: Value = serde_json::from_str(&text)?;
            if message["type"] == "auth_result" {
                let is_in = message["payload"]["success"] == true;
                return if is_in { Ok(client) } else { Err(text.into()) };
            }
        }
    }

    fn connect(address: SocketAddr) -> Outcome<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "GET /ws HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            head.extend(byte);
        }
        if !head.starts_with(b"HTTP/1.1 101") {
            return Err(String::from_utf8_lossy(&head).into());
        }
        let buffer = Vec::new();
        Ok(Self { stream, buffer })
    }

    /// Writes frames as they are.
    pub(crate) fn send(&mut self, frames: &[u8]) -> io::Result<()> {
        self.stream.write_all(frames)
    }

    /// Waits for the next text.
    pub(crate) fn next_text(&mut self) -> Outcome<String> {
        loop {
            while let Some((is_text, begin, end)) = first_frame(&self.buffer) {
                let payload: Vec<u8> = self.buffer.drain(..end).skip(begin).collect();
                if is_text {
                    return Ok(String::from_utf8(payload)?);
                }
            }
            let mut chunk = [0; 4096];
            let count = self.stream.read(&mut chunk)?;
            if count == 0 {
                return Err("the relay hung up".into());
            }
            self.buffer.extend_from_slice(&chunk[..count]);
        }
    }

    /// From now on, reading does not wait.
    pub(crate) fn poll_only(&self) -> io::Result<()> {
        self.stream.set_nonblocking(true)
    }

    /// From now on, reading waits again.
    pub(crate) fn wait_again(&self) -> io::Result<()> {
        self.stream.set_nonblocking(false)
    }

    /// Reads what is there without waiting, and gives the number of texts in it. An error means that the relay hung up.
    pub(crate) fn count_texts(&mut self, scratch: &mut Vec<u8>) -> io::Result<usize> {
        scratch.resize(CHUNK, 0);
        let count = match self.stream.read(scratch) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(0),
            Err(error) => return Err(error),
        };
        self.buffer.extend_from_slice(&scratch[..count]);
        let (mut texts, mut done) = (0, 0);
        while let Some((is_text, _, end)) = first_frame(&self.buffer[done..]) {
            texts += usize::from(is_text);
            done += end;
        }
        self.buffer.drain(..done);
        Ok(texts)
    }

    /// Writes some of the bytes without waiting.
    pub(crate) fn send_some(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.stream.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            written => written,
        }
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// Reads from all until nothing has come for a while, so that nothing of before is taken for what comes later.
pub(crate) fn settle(clients: &mut [Client], quiet: Duration) -> Outcome<()> {
    let mut scratch = Vec::new();
    let mut last = Instant::now();
    while last.elapsed() < quiet {
        if !wait(clients, &[], Duration::from_millis(20))? {
            continue;
        }
        for client in &mut *clients {
            if client.count_texts(&mut scratch)? > 0 {
                last = Instant::now();
            }
        }
    }
    Ok(())
}

/// Waits until one of them has something to read, or one of the others takes something. False when the time is over.
pub(crate) fn wait(readers: &[Client], writers: &[&Client], longest: Duration) -> Outcome<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let read = readers.iter().map(|one| PollFd::new(one, PollFlags::IN));
    let write = writers.iter().map(|one| PollFd::new(*one, PollFlags::OUT));
    let mut all: Vec<PollFd<'_>> = read.chain(write).collect();
    let longest = Timespec {
        tv_sec: i64::try_from(longest.as_secs())?,
        tv_nsec: longest.subsec_nanos().into(),
    };
    Ok(poll(&mut all, Some(&longest))? > 0)
}
