//! A CLI played by hand, for tests: frames in, lines out, no process.

use std::collections::VecDeque;
use std::io;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use crate::framing::Frame;
use crate::line::Line;
use crate::transport::{Exit, Link, Process, Progress, Sink, Source, Stop, WhenDropped};

/// What the CLI would do, by hand.
pub(crate) struct Peer {
    pub(crate) prints: Option<mpsc::Sender<Frame>>,
    reads: mpsc::Receiver<Line>,
    exits: watch::Sender<Option<Exit>>,
    pub(crate) stops: mpsc::Receiver<Stop>,
}

struct FakeSource(mpsc::Receiver<Frame>);

impl Source for FakeSource {
    fn read<'a>(
        &'a mut self,
        frames: &'a mut VecDeque<Frame>,
    ) -> BoxFuture<'a, io::Result<Progress>> {
        async move {
            match self.0.recv().await {
                Some(frame) => {
                    frames.push_back(frame);
                    Ok(Progress::More)
                }
                None => Ok(Progress::Ended),
            }
        }
        .boxed()
    }
}

struct FakeSink(Option<mpsc::Sender<Line>>);

impl Sink for FakeSink {
    fn write<'a>(&'a mut self, line: &'a Line) -> BoxFuture<'a, io::Result<()>> {
        async move {
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            let lines = self.0.as_ref().ok_or_else(gone)?;
            lines.send(line.clone()).await.map_err(|_| gone())
        }
        .boxed()
    }

    fn close(&mut self) -> BoxFuture<'_, ()> {
        self.0 = None;
        futures_util::future::ready(()).boxed()
    }
}

struct FakeProcess {
    when_dropped: WhenDropped,
    exit: watch::Receiver<Option<Exit>>,
    stops: mpsc::Sender<Stop>,
}

impl Process for FakeProcess {
    fn when_dropped(&self) -> WhenDropped {
        self.when_dropped
    }

    fn wait(&mut self) -> BoxFuture<'_, Exit> {
        async move {
            let exit = self.exit.wait_for(Option::is_some).await;
            exit.ok().and_then(|exit| *exit).unwrap_or(Exit::Unknown)
        }
        .boxed()
    }

    fn stop(&mut self, stop: Stop) {
        self.stops.try_send(stop).expect("a test reads the stops");
    }

    fn stderr(&self) -> String {
        "its last words\n".to_owned()
    }
}

impl Peer {
    /// A link, and the other end of it.
    pub(crate) fn link() -> (Link, Self) {
        Self::link_that(WhenDropped::End)
    }

    /// The same for a process of the given kind.
    pub(crate) fn link_that(when_dropped: WhenDropped) -> (Link, Self) {
        let (prints, printed) = mpsc::channel(256);
        let (written, reads) = mpsc::channel(256);
        let (exits, exit) = watch::channel(None);
        let (stop, stops) = mpsc::channel(8);
        let link = Link {
            source: Box::new(FakeSource(printed)),
            sink: Box::new(FakeSink(Some(written))),
            process: Box::new(FakeProcess {
                when_dropped,
                exit,
                stops: stop,
            }),
        };
        let peer = Self {
            prints: Some(prints),
            reads,
            exits,
            stops,
        };
        (link, peer)
    }

    pub(crate) async fn print(&self, line: Value) {
        let frame = Frame::Line(line.to_string().into());
        let prints = self.prints.as_ref().expect("the peer still prints");
        prints.send(frame).await.expect("the reader lives");
    }

    pub(crate) async fn reads(&mut self) -> Value {
        let line = self.reads.recv().await.expect("a line");
        serde_json::from_str(line.as_str()).expect("JSON")
    }

    /// Waits for the end of the input; false when a line comes instead.
    pub(crate) async fn input_ended(&mut self) -> bool {
        self.reads.recv().await.is_none()
    }

    pub(crate) fn input_has_ended(&self) -> bool {
        self.reads.is_closed()
    }

    pub(crate) fn exit(&mut self, exit: Exit) {
        self.prints = None;
        self.exits.send_replace(Some(exit));
    }

    pub(crate) async fn answer_next(&mut self, response: Value) {
        let request = self.reads().await;
        let response = json!({"subtype": "success", "request_id": request["request_id"], "response": response});
        self.print(json!({"type": "control_response", "response": response}))
            .await;
    }
}
