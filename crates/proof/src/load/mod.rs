//! Load: how much one relay, Pylon and host on this machine bear, and what it costs them.
//!
//! Five scenes, each on real processes over the loopback, each bounded in count and time: a `crowd` of connections that
//! all come back after the relay was killed, many conversations that `stream` to many apps, `stalled` apps that read
//! nothing, a `long` conversation, and a `soak` whose memory, descriptors and disk must not grow for ever.
//!
//! A scene measures and says whether its promise held; [`page`] writes it down.

mod crowd;
mod line;
mod long;
mod meter;
mod page;
mod soak;
mod stalled;
mod stream;
mod turn;

use std::time::Duration;

pub use page::page;

/// How much of everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scale {
    /// Connections that are there at once.
    pub connections: usize,
    /// Conversations that stream at once.
    pub conversations: usize,
    /// Apps that look at them.
    pub viewers: usize,
    /// Pieces of text that each conversation streams.
    pub pieces: usize,
    /// Apps that read nothing.
    pub stalled: usize,
    /// Entries of the long conversation.
    pub entries: usize,
    /// How long the soak is.
    pub soak: Duration,
}

impl Scale {
    /// What is promised.
    pub fn full() -> Self {
        Self {
            connections: 10_000,
            conversations: 50,
            viewers: 200,
            pieces: 2000,
            stalled: 1000,
            entries: 1_000_000,
            soak: Duration::from_mins(30),
        }
    }

    /// A look at everything within a few minutes.
    pub fn quick() -> Self {
        Self {
            connections: 1000,
            conversations: 10,
            viewers: 40,
            pieces: 400,
            stalled: 100,
            entries: 20_000,
            soak: Duration::from_secs(45),
        }
    }

    /// Just enough to know that the scenes themselves work.
    pub fn tiny() -> Self {
        Self {
            connections: 60,
            conversations: 2,
            viewers: 4,
            pieces: 50,
            stalled: 3,
            entries: 300,
            soak: Duration::from_secs(2),
        }
    }
}

/// One line of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// What was measured.
    pub what: String,
    /// What came out, with its unit.
    pub value: String,
    /// Whether it is what was promised; nothing where nothing was.
    pub held: Option<bool>,
}

impl Figure {
    fn new(what: &str, value: impl Into<String>) -> Self {
        Self {
            what: what.to_owned(),
            value: value.into(),
            held: None,
        }
    }

    fn held(self, held: bool) -> Self {
        Self {
            held: Some(held),
            ..self
        }
    }
}

/// What became of a scene.
#[derive(Debug)]
pub struct Scene {
    /// Its name, by which it can be played alone.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// What it measured, or why it could not.
    pub outcome: anyhow::Result<Vec<Figure>>,
}

impl Scene {
    /// Whether it was played to its end and every promise held.
    pub fn is_good(&self) -> bool {
        let figures = self.outcome.as_ref();
        figures.is_ok_and(|figures| figures.iter().all(|figure| figure.held != Some(false)))
    }
}

/// Plays the scenes whose name holds `only`, one after the other. A scene that fails does not keep the next from being
/// played.
pub async fn play(scale: &Scale, only: &str, mut tell: impl FnMut(&Scene)) -> Vec<Scene> {
    let mut played = Vec::new();
    for (name, about) in SCENES.iter().filter(|(name, _)| name.contains(only)) {
        let outcome = match *name {
            "crowd" => crowd::play(scale).await,
            "stream" => stream::play(scale).await,
            "stalled" => stalled::play(scale).await,
            "long" => long::play(scale).await,
            _ => soak::play(scale).await,
        };
        let scene = Scene {
            name,
            about,
            outcome,
        };
        tell(&scene);
        played.push(scene);
    }
    played
}

/// All scenes.
const SCENES: [(&str, &str); 5] = [
    (
        "crowd",
        "Authenticated connections to one relay, in households of fifty; then the relay is killed with -9 and all come back.",
    ),
    (
        "stream",
        "Conversations that stream at full speed, each to its own share of the apps; every app must get every piece once and in order.",
    ),
    (
        "stalled",
        "Apps that look at a conversation and read nothing, beside one that reads.",
    ),
    (
        "long",
        "A conversation with very many entries, read page by page.",
    ),
    (
        "soak",
        "Ten conversations that never rest; memory, descriptors and disk of relay, Pylon and host.",
    ),
];
