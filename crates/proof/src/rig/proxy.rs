//! A stretch of network that can be cut, slowed and stilled: what one end sends reaches the other as the weather allows.
//!
//! It carries bytes and knows nothing of what they say. Whoever connects is connected on; a relay that is away is an
//! end that hangs up.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use fastrand::Rng;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How much is carried in one go; small, so that a cut falls into the middle of things.
const PORTION: usize = 2048;

/// How the network is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    /// Everything goes through at once.
    Fair,
    /// Every portion takes so long.
    Slow(Duration),
    /// Every portion takes a time of its own, up to so long: what is sent over one connection overtakes what was sent
    /// before over another.
    Uneven(Duration),
    /// Nothing goes through, and nobody is told.
    Still,
    /// Nothing goes through for one connection in [`HELD_OF`], as if the process at its end were stopped in its tracks.
    Held(u64),
}

/// Among so many connections one is held.
pub const HELD_OF: u64 = 3;

impl Weather {
    /// Whether anything of this connection goes through.
    fn moves(self, connection: u64) -> bool {
        match self {
            Self::Still => false,
            Self::Held(which) => connection % HELD_OF != which % HELD_OF,
            Self::Fair | Self::Slow(_) | Self::Uneven(_) => true,
        }
    }

    /// How long the next portion takes.
    fn delay(self, dice: &mut Rng) -> Duration {
        match self {
            Self::Slow(delay) => delay,
            Self::Uneven(most) => most.mul_f64(dice.f64()),
            Self::Fair | Self::Still | Self::Held(_) => Duration::ZERO,
        }
    }
}

/// The sky over one stretch.
#[derive(Debug)]
struct Sky {
    weather: watch::Sender<Weather>,
    /// Counts the cuts.
    cuts: watch::Sender<u64>,
}

/// A stretch of network.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    sky: Arc<Sky>,
    _carrying: JoinSet<()>,
}

impl Proxy {
    /// Carries whoever connects to `target`, until it is dropped.
    pub(super) async fn open(target: String) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr().context("the address of a proxy")?;
        let sky = Arc::new(Sky {
            weather: watch::Sender::new(Weather::Fair),
            cuts: watch::Sender::new(0),
        });
        let mut carrying = JoinSet::new();
        carrying.spawn(accept(listener, target, Arc::clone(&sky)));
        Ok(Self {
            address,
            sky,
            _carrying: carrying,
        })
    }

    /// Where to connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The weather changes, for connections that stand and those to come.
    pub fn weather(&self, weather: Weather) {
        self.sky.weather.send_replace(weather);
    }

    /// Every connection that stands is cut, whatever is under way.
    pub fn cut(&self) {
        self.sky.cuts.send_modify(|cuts| *cuts += 1);
    }
}

async fn accept(listener: TcpListener, target: String, sky: Arc<Sky>) {
    let mut connections = JoinSet::new();
    let mut number = 0;
    while let Ok((near, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        connections.spawn(carry(near, target.clone(), Arc::clone(&sky), number));
        number += 1;
    }
}

async fn carry(mut near: TcpStream, target: String, sky: Arc<Sky>, number: u64) {
    let mut cuts = sky.cuts.subscribe();
    cuts.mark_unchanged();
    let Ok(mut far) = TcpStream::connect(target).await else {
        return;
    };
    // A message does not wait for others.
    let quick = near.set_nodelay(true).and(far.set_nodelay(true));
    if quick.is_err() {
        return;
    }
    let (near_in, near_out) = near.split();
    let (far_in, far_out) = far.split();
    // Whichever ends first takes the other along.
    tokio::select! {
        _ = cuts.changed() => {}
        () = pump(near_in, far_out, sky.weather.subscribe(), number) => {}
        () = pump(far_in, near_out, sky.weather.subscribe(), number) => {}
    }
}

async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut weather: watch::Receiver<Weather>,
    number: u64,
) {
    let mut portion = [0; PORTION];
    let mut dice = Rng::with_seed(number);
    loop {
        let Ok(length @ 1..) = from.read(&mut portion).await else {
            return;
        };
        let moves = weather.wait_for(|weather| weather.moves(number));
        let Ok(now) = moves.await.map(|weather| *weather) else {
            return;
        };
        let delay = now.delay(&mut dice);
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        if to.write_all(&portion[..length]).await.is_err() {
            return;
        }
    }
}
