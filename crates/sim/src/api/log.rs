//! The log of requests, in memory and bounded, with a way to wait for one.
//!
//! It holds what a test asks about: method, path, the parsed body and what the server took the request for. It keeps
//! no headers beyond the session id, so no key ends up in a failure message.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

use super::conversation::Kind;

/// Most requests kept.
const MAX_REQUESTS: usize = 10_000;
/// Most bytes of bodies kept; one large body is kept in any case.
const MAX_BYTES: usize = 256 << 20;

/// One request as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Its number, from 0, in the order of arrival.
    pub number: u64,
    /// The HTTP method.
    pub method: String,
    /// The path without the query.
    pub path: String,
    /// The CLI's session, if it named one.
    pub session: Option<String>,
    /// What the request is for; only requests for a message have a kind.
    pub kind: Option<Kind>,
    /// The body, if it was JSON.
    pub body: Option<Arc<Value>>,
    /// Length of the body in bytes.
    pub length: usize,
}

/// The log; requests are added by handlers and read by the test.
#[derive(Debug)]
pub(super) struct Log {
    kept: Mutex<Kept>,
    count: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Kept {
    requests: VecDeque<Request>,
    bytes: usize,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            kept: Mutex::default(),
            count: watch::Sender::new(0),
        }
    }
}

impl Log {
    /// Adds a request and gives it its number.
    pub(super) fn add(&self, mut request: Request) {
        {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            request.number = *self.count.borrow();
            kept.bytes += request.length;
            kept.requests.push_back(request);
            while kept.requests.len() > MAX_REQUESTS
                || (kept.bytes > MAX_BYTES && kept.requests.len() > 1)
            {
                let dropped = kept
                    .requests
                    .pop_front()
                    .map_or(0, |request| request.length);
                kept.bytes -= dropped;
            }
            self.count.send_modify(|count| *count += 1);
        }
    }

    /// What is kept, oldest first.
    pub(super) fn requests(&self) -> Vec<Request> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.requests.iter().cloned().collect()
    }

    /// The first kept or coming request that is wanted.
    pub(super) async fn wait_for(&self, wanted: impl Fn(&Request) -> bool) -> Request {
        // Subscribing before looking leaves no gap in which a request could be missed.
        let mut count = self.count.subscribe();
        loop {
            count.mark_unchanged();
            if let Some(request) = self.requests().into_iter().find(&wanted) {
                return request;
            }
            if count.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}
