//! One WebSocket: a task that reads, writes, keeps time, and decides nothing.
//!
//! Frames go to the hub, deliveries come from it. A stranger may send 8 KiB in five seconds; an app that sends too much
//! is closed, a Pylon is read more slowly. Reading waits while the hub has no room; writing never waits for reading.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::{BufMut as _, Bytes};
use estelle_proto::{ApiError, Envelope, ErrorCode, ErrorReport, RelayToDevice, Retry};
use tokio::io::{
    AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadHalf, WriteHalf,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::accept::{Pass, Shell};
use super::hub::{Stopped, ToHub};
use super::line::{Line, Phase};
use super::outbox::{Deliveries, Gauge, Out, Over, outbox};
use crate::limit::Bucket;
use crate::machine::{ConnId, Role, Why};
use crate::ws::{self, Incoming};

/// Frames that are handed to the socket at once. A call costs more than the frames in it, and under a backlog there are
/// always more.
const AT_ONCE: usize = 128;
/// How long a connection that is being closed may take to read the rest, and to end its own side. Whoever was taken out
/// is gone within a second, whatever it does not read.
const PARTING: Duration = Duration::from_millis(900);
/// Heartbeats without a sign of life after which a connection is dead.
const MOST_MISSED: u32 = 2;

/// A WebSocket that was just opened.
pub(super) struct Arrival<S> {
    pub(super) io: S,
    /// What came right behind the request.
    pub(super) early: Bytes,
    pub(super) address: IpAddr,
    pub(super) pass: Pass,
}

/// Why a connection is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The other side is gone.
    Gone,
    /// It was told to go.
    Closed,
    /// It did not take what it was sent.
    TooSlow,
    /// It gave no sign of life.
    Silent,
    /// Its place was needed for another stranger.
    Evicted,
    /// The relay is gone.
    Stopped,
}

impl From<Stopped> for End {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

/// Serves a connection to its end.
///
/// Not an `async fn`, so that the task holds the connection once: its size is what an idle connection costs.
pub(super) fn run<S>(shell: Arc<Shell>, arrival: Arrival<S>) -> impl Future<Output = ()> + Send
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let conn = ConnId(shell.connections.fetch_add(1, Ordering::Relaxed));
    debug!(conn = conn.0, address = %arrival.address, "opened");
    let (outbox, deliveries, gauge) = outbox(shell.limits.queue_bytes);
    let opened = Box::new(ToHub::Opened {
        conn,
        address: Some(arrival.address.to_canonical().to_string()),
        outbox,
    });
    let (reader, writer) = tokio::io::split(arrival.io);
    let permit = arrival.pass.permit;
    let mut connection = Connection {
        conn,
        shell,
        reader,
        writer,
        deliveries,
        gauge,
        line: Line::new(&arrival.early, arrival.pass.seat),
    };
    async move {
        if connection.shell.hub.tell(*opened).await.is_err() {
            return;
        }
        let end = connection.serve().await;
        debug!(conn = conn.0, ?end, "closed");
        // If the hub is gone, there is nobody to tell.
        let _ = connection.shell.hub.tell(ToHub::Closed(conn)).await;
        drop(permit);
    }
}

/// What happens to a connection.
enum Event {
    Over(Over),
    Evicted,
    Woken,
    Wrote(io::Result<usize>),
    Told(Option<Out>),
    Read(io::Result<usize>),
}

/// A connection with its socket.
struct Connection<S> {
    conn: ConnId,
    shell: Arc<Shell>,
    reader: ReadHalf<S>,
    writer: WriteHalf<S>,
    deliveries: Deliveries,
    gauge: Gauge,
    line: Line,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    async fn serve(&mut self) -> End {
        if let Err(end) = self.listen().await {
            return end;
        }
        let mut sleep = std::pin::pin!(tokio::time::sleep_until(self.line.wake_at()));
        loop {
            if let Phase::Ending { until } = self.line.phase
                && self.line.pending.is_empty()
                && !self.line.is_unflushed
            {
                return self.part(until).await;
            }
            let wake = self.line.wake_at();
            if sleep.deadline() != wake {
                sleep.as_mut().reset(wake);
            }
            let event = self.next(sleep.as_mut()).await;
            if let Err(end) = self.on(event).await {
                return end;
            }
        }
    }

    /// Waits for whatever comes first. What ends a connection goes before what keeps it busy.
    async fn next(&mut self, sleep: Pin<&mut tokio::time::Sleep>) -> Event {
        let appetite = self.line.appetite();
        let is_ending = self.line.is_ending();
        let line = &mut self.line;
        let evicted = match &line.phase {
            Phase::Stranger { seat, .. } => seat.as_ref().map(|seat| seat.evicted.clone()),
            Phase::Member { .. } | Phase::Ending { .. } => None,
        };
        let has_work = !line.pending.is_empty() || line.is_unflushed;
        let mut room = line.decoder.room().limit(appetite);
        tokio::select! {
            biased;
            over = self.gauge.over() => Event::Over(over),
            () = put_out(evicted.as_ref()), if evicted.is_some() => Event::Evicted,
            () = sleep => Event::Woken,
            wrote = write(&mut self.writer, &line.pending), if has_work => Event::Wrote(wrote),
            told = self.deliveries.next(), if line.pending.len() < AT_ONCE && !is_ending => Event::Told(told),
            read = self.reader.read_buf(&mut room), if appetite > 0 => Event::Read(read),
        }
    }

    async fn on(&mut self, event: Event) -> Result<(), End> {
        match event {
            Event::Over(Over::Cut) => Err(End::TooSlow),
            Event::Over(Over::Closing) => {
                // The farewell stands behind all that waits.
                while !self.line.is_ending()
                    && let Some(out) = self.deliveries.try_next()
                {
                    self.on_told(out);
                }
                Ok(())
            }
            Event::Evicted => Err(End::Evicted),
            Event::Woken => self.on_wake().await,
            Event::Wrote(Ok(0)) if self.line.pending.is_empty() => {
                self.line.is_unflushed = false;
                Ok(())
            }
            Event::Wrote(Ok(0) | Err(_)) | Event::Read(Ok(0) | Err(_)) => Err(End::Gone),
            Event::Wrote(Ok(count)) => {
                let count = self.line.wrote(count);
                self.gauge.written(count);
                Ok(())
            }
            Event::Told(None) => Err(End::Stopped),
            Event::Told(Some(out)) => {
                self.on_told(out);
                while self.line.pending.len() < AT_ONCE
                    && !self.line.is_ending()
                    && let Some(out) = self.deliveries.try_next()
                {
                    self.on_told(out);
                }
                Ok(())
            }
            Event::Read(Ok(count)) => self.on_read(count).await,
        }
    }

    fn on_told(&mut self, out: Out) {
        match out {
            Out::Frame(frame) => self.line.pending.push_back(frame),
            Out::Admit(role) => self.become_member(role),
            Out::Deadline(at) => {
                if let Phase::Stranger { until, .. } = &mut self.line.phase {
                    *until = self.shell.started + at;
                }
            }
            Out::Close(why) => {
                let (code, reason) = parting_words(why);
                self.close(code, reason);
            }
        }
    }

    fn become_member(&mut self, role: Role) {
        let limits = &self.shell.limits;
        let rate = match role {
            Role::Pylon => limits.pylon_rate,
            Role::App => limits.app_rate,
        };
        self.line
            .decoder
            .set_limit(estelle_proto::limits::MAX_FRAME_BYTES);
        self.line.phase = Phase::Member {
            role,
            bucket: Bucket::new(rate, self.shell.started.elapsed()),
            heartbeat: Instant::now() + limits.heartbeat,
            missed: 0,
            is_alive: true,
            paused_until: None,
        };
    }

    async fn on_read(&mut self, count: usize) -> Result<(), End> {
        match &mut self.line.phase {
            Phase::Stranger { left, .. } => *left = left.saturating_sub(count),
            Phase::Member { is_alive, .. } => *is_alive = true,
            Phase::Ending { .. } => {}
        }
        self.listen().await
    }

    /// Takes what the client has said so far.
    async fn listen(&mut self) -> Result<(), End> {
        while !self.line.is_ending() && !self.is_paused() {
            match self.line.decoder.next() {
                Ok(Some(incoming)) => self.hear(incoming).await?,
                Ok(None) => break,
                Err(violation) => self.close(violation.code(), &violation.to_string()),
            }
        }
        // A stranger that used up its bytes without a word of sense will not come to one.
        if let Phase::Stranger { left: 0, .. } = self.line.phase {
            self.close(1009, "too much before `auth`");
        }
        Ok(())
    }

    async fn hear(&mut self, incoming: Incoming) -> Result<(), End> {
        let length = match &incoming {
            Incoming::Text(text) => text.len(),
            Incoming::Ping(payload) => payload.len(),
            Incoming::Pong | Incoming::Close => 0,
        };
        if !self.afford(length) {
            return Ok(());
        }
        match incoming {
            Incoming::Text(text) => Ok(self.shell.hub.frame(self.conn, text).await?),
            Incoming::Ping(payload) => {
                // Whoever does not read the answers gets no more of them.
                if self.line.pending.len() < AT_ONCE {
                    self.write_own(ws::pong(&payload));
                }
                Ok(())
            }
            Incoming::Pong => Ok(()),
            Incoming::Close => {
                self.close(1000, "");
                Ok(())
            }
        }
    }

    /// Takes a message out of the sender's bucket; false when that was too much.
    fn afford(&mut self, length: usize) -> bool {
        let now = self.shell.started.elapsed();
        let Phase::Member {
            role,
            bucket,
            paused_until,
            ..
        } = &mut self.line.phase
        else {
            return true;
        };
        let Some(wait) = bucket.take(now, length) else {
            return true;
        };
        match role {
            Role::Pylon => {
                *paused_until = Some(Instant::now() + wait);
                true
            }
            Role::App => {
                self.shell.metrics.rate_limited_total.one();
                debug!(conn = self.conn.0, "sends too much");
                self.write_own(too_fast());
                self.close(1008, "too many messages");
                false
            }
        }
    }

    fn is_paused(&self) -> bool {
        matches!(
            self.line.phase,
            Phase::Member {
                paused_until: Some(_),
                ..
            }
        )
    }

    async fn on_wake(&mut self) -> Result<(), End> {
        let now = Instant::now();
        let rhythm = self.shell.limits.heartbeat;
        match &mut self.line.phase {
            Phase::Ending { .. } => return Err(End::Gone),
            Phase::Stranger { .. } => self.close(1008, "no `auth` in time"),
            Phase::Member { paused_until, .. } if paused_until.is_some_and(|at| at <= now) => {
                *paused_until = None;
                return self.listen().await;
            }
            Phase::Member {
                heartbeat,
                missed,
                is_alive,
                ..
            } => {
                *missed = if *is_alive { 0 } else { *missed + 1 };
                *is_alive = false;
                *heartbeat = now + rhythm;
                if *missed >= MOST_MISSED {
                    return Err(End::Silent);
                }
                self.write_own(ws::ping());
            }
        }
        Ok(())
    }

    fn write_own(&mut self, frame: Bytes) {
        self.gauge.added(frame.len());
        self.line.pending.push_back(frame);
    }

    /// Writes what waits and a last frame, then ends.
    fn close(&mut self, code: u16, reason: &str) {
        if self.line.is_ending() {
            return;
        }
        self.write_own(ws::close(code, reason));
        self.line.phase = Phase::Ending {
            until: Instant::now() + PARTING,
        };
    }

    /// Ends the stream, and lets the other side end its own: closing at once could destroy what it has not read yet.
    async fn part(&mut self, until: Instant) -> End {
        let parting = async {
            self.writer.shutdown().await?;
            // On the heap: the task of every connection would be larger by it.
            let mut ignored = vec![0; 1024];
            while self.reader.read(&mut ignored).await? > 0 {}
            io::Result::Ok(())
        };
        // Whether it went well makes no difference any more.
        let _ = tokio::time::timeout_at(until, parting).await;
        End::Closed
    }
}

/// Returns when the place of a stranger is needed; without a place, never.
pub(super) async fn put_out(evicted: Option<&CancellationToken>) {
    match evicted {
        Some(evicted) => evicted.cancelled().await,
        None => std::future::pending().await,
    }
}

/// Writes some of what waits, or sees to it that what was written has left.
fn write<W: AsyncWrite + Unpin>(
    writer: &mut W,
    pending: &VecDeque<Bytes>,
) -> impl Future<Output = io::Result<usize>> {
    poll_fn(move |context| {
        let mut writer = Pin::new(&mut *writer);
        if pending.is_empty() {
            return writer.poll_flush(context).map_ok(|()| 0);
        }
        // On the stack for as long as the call takes: in the task every connection would be larger by it.
        let mut slices = [IoSlice::new(&[]); AT_ONCE];
        let mut count = 0;
        for (slice, frame) in slices.iter_mut().zip(pending) {
            *slice = IoSlice::new(frame);
            count += 1;
        }
        writer
            .as_mut()
            .poll_write_vectored(context, &slices[..count])
    })
}

fn too_fast() -> Bytes {
    let text = "too many messages: slow down".to_owned();
    let error = ApiError::new(ErrorCode::RateLimited, text, Retry::Later);
    let report = Envelope::<RelayToDevice>::new(ErrorReport::from(error));
    ws::text(&report.to_json().unwrap_or_default())
}

fn parting_words(why: Why) -> (u16, &'static str) {
    match why {
        Why::Refused => (1008, "refused"),
        Why::NotPaired => (1008, "not paired"),
        Why::Revoked => (4001, "revoked"),
        Why::Replaced => (4002, "replaced"),
        Why::Restarting => (1012, "the relay restarts"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of what `run` returns, without running it.
    fn size<S, F>(_: fn(Arc<Shell>, Arrival<S>) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn an_idle_connection_is_small() {
        let size = size(run::<tokio::net::TcpStream>);
        assert!(size <= 2500, "the task of a connection has {size} bytes");
    }
}
