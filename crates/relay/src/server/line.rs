//! The state of a connection beside its socket: what it is, what it may still send, what is to be written.
//!
//! Without IO: the connection reads and writes, and asks here what it may do and until when.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use estelle_proto::limits;
use tokio::time::Instant;

use super::lobby::Seat;
use crate::limit::Bucket;
use crate::machine::Role;
use crate::ws::Decoder;

/// Frames for which an idle connection keeps room.
const SPARE_FRAMES: usize = 16;

/// What a connection is now.
#[derive(Debug)]
pub(super) enum Phase {
    Stranger {
        /// Lets others in when it is dropped.
        seat: Option<Seat>,
        until: Instant,
        /// Bytes that may still come.
        left: usize,
    },
    Member {
        role: Role,
        bucket: Bucket,
        heartbeat: Instant,
        missed: u32,
        is_alive: bool,
        paused_until: Option<Instant>,
    },
    /// What waits is written, then it is over.
    Ending { until: Instant },
}

/// The state of a connection beside its socket.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) decoder: Decoder,
    /// What is to be written.
    pub(super) pending: VecDeque<Bytes>,
    /// What was taken by the socket but may not have left a buffer before it.
    pub(super) is_unflushed: bool,
    pub(super) phase: Phase,
}

impl Line {
    pub(super) fn new(early: &Bytes, seat: Option<Seat>) -> Self {
        let limit = limits::MAX_UNAUTHENTICATED_FRAME_BYTES;
        let mut decoder = Decoder::new(limit);
        decoder.room().extend_from_slice(early);
        let lifetime = Duration::from_secs(u64::from(limits::AUTH_SECONDS));
        Self {
            decoder,
            pending: VecDeque::new(),
            is_unflushed: false,
            phase: Phase::Stranger {
                seat,
                until: Instant::now() + lifetime,
                left: limit.saturating_sub(early.len()),
            },
        }
    }

    /// When something has to be done even if nothing happens.
    pub(super) fn wake_at(&self) -> Instant {
        match &self.phase {
            Phase::Stranger { until, .. } | Phase::Ending { until } => *until,
            Phase::Member {
                heartbeat,
                paused_until,
                ..
            } => paused_until.map_or(*heartbeat, |until| until.min(*heartbeat)),
        }
    }

    /// How many bytes may be read now.
    pub(super) fn appetite(&self) -> usize {
        match &self.phase {
            Phase::Stranger { left, .. } => *left,
            Phase::Member { paused_until, .. } if paused_until.is_none() => usize::MAX,
            Phase::Member { .. } | Phase::Ending { .. } => 0,
        }
    }

    pub(super) fn is_ending(&self) -> bool {
        matches!(self.phase, Phase::Ending { .. })
    }

    /// Notes that bytes were written, and how many of them belonged to frames that are now gone.
    pub(super) fn wrote(&mut self, mut count: usize) -> usize {
        let all = count;
        while let Some(first) = self.pending.front_mut() {
            if count < first.len() {
                first.advance(count);
                break;
            }
            count -= first.len();
            self.pending.pop_front();
        }
        if self.pending.is_empty() {
            self.pending.shrink_to(SPARE_FRAMES);
        }
        self.is_unflushed = true;
        all
    }
}
