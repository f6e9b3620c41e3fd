//! Those who look at a terminal: who they are, what each was sent, and when each is due a whole screen.

use std::collections::HashMap;

use estelle_proto::keeper::{KeeperOutput, KeeperToViewer};
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use super::connection::{self, Said, ViewerId};
use super::screen::Screen;
use super::viewers::Flow;

/// Lines that may wait for one viewer: all its outputs, and some errors.
const TOLD: usize = 512;
/// So many may look at once.
const MAX_VIEWERS: usize = 64;

#[derive(Debug)]
struct Viewer {
    told: mpsc::Sender<String>,
    flow: Flow,
    looks: bool,
    /// It came while the program had the other screen, and knows nothing of the first one.
    knows_one_screen: bool,
}

impl Viewer {
    /// One that has left unread what it may leave unread is cut off: it can come again.
    fn tell(&mut self, message: &KeeperToViewer) {
        let line = estelle_proto::ipc::to_line(message).unwrap_or_default();
        if self.told.try_send(line).is_err() {
            self.looks = false;
            let (closed, _) = mpsc::channel(1);
            self.told = closed;
        }
    }
}

/// All who are connected.
#[derive(Debug, Default)]
pub(super) struct Audience {
    viewers: HashMap<ViewerId, Viewer>,
    last: ViewerId,
    /// They end with what they have to say.
    speakers: TaskTracker,
    /// They end with the viewer, or with this process.
    listeners: TaskTracker,
}

impl Audience {
    /// Somebody came. One too many is closed at once.
    pub(super) fn admit(
        &mut self,
        stream: UnixStream,
        hello: &KeeperToViewer,
        said: &mpsc::Sender<(ViewerId, Said)>,
    ) {
        self.viewers.retain(|_, viewer| !viewer.told.is_closed());
        if self.viewers.len() >= MAX_VIEWERS {
            return;
        }
        let (told, lines) = mpsc::channel(TOLD);
        let mut viewer = Viewer {
            told,
            flow: Flow::default(),
            looks: false,
            knows_one_screen: false,
        };
        viewer.tell(hello);
        self.last += 1;
        self.viewers.insert(self.last, viewer);
        let (from, to) = stream.into_split();
        let listening = connection::listen(self.last, from, said.clone());
        self.listeners.spawn(listening);
        self.speakers.spawn(connection::speak(to, lines));
    }

    pub(super) fn leave(&mut self, id: ViewerId) {
        self.viewers.remove(&id);
    }

    /// Somebody begins to look.
    pub(super) fn look(&mut self, id: ViewerId, screen: &mut Screen) {
        if let Some(viewer) = self.viewers.get_mut(&id) {
            viewer.looks = true;
            viewer.flow.outdate();
        }
        self.refresh(screen);
    }

    /// The program printed this.
    pub(super) fn show(&mut self, screen: &mut Screen, text: &str) {
        let was_alternate = screen.is_alternate();
        screen.show(text);
        let is_back = was_alternate && !screen.is_alternate();
        for viewer in self.viewers.values_mut().filter(|viewer| viewer.looks) {
            if is_back && viewer.knows_one_screen {
                viewer.knows_one_screen = false;
                viewer.flow.outdate();
            } else if let Some(frame) = viewer.flow.output(text.len()) {
                viewer.tell(&KeeperOutput::new(frame, text.to_owned()).into());
            }
        }
        self.refresh(screen);
    }

    /// Sends a whole screen to those who are due one.
    pub(super) fn refresh(&mut self, screen: &mut Screen) {
        let (size, is_alternate) = (screen.size(), screen.is_alternate());
        let mut taken = None;
        for viewer in self.viewers.values_mut() {
            if viewer.looks && viewer.flow.is_screen_due() {
                let data = taken.get_or_insert_with(|| screen.snapshot());
                let frame = viewer.flow.screen(data.len());
                viewer.knows_one_screen = is_alternate;
                let output = KeeperOutput {
                    screen: Some(size.clone()),
                    ..KeeperOutput::new(frame, data.clone())
                };
                viewer.tell(&output.into());
            }
        }
    }

    /// What everybody has is void.
    pub(super) fn outdate(&mut self) {
        for viewer in self.viewers.values_mut() {
            viewer.flow.outdate();
        }
    }

    pub(super) fn acknowledge(&mut self, id: ViewerId, frame: u64) {
        if let Some(viewer) = self.viewers.get_mut(&id) {
            viewer.flow.acknowledge(frame);
        }
    }

    pub(super) fn tell(&mut self, id: ViewerId, message: &KeeperToViewer) {
        if let Some(viewer) = self.viewers.get_mut(&id) {
            viewer.tell(message);
        }
    }

    /// Tells all who look.
    pub(super) fn tell_all(&mut self, message: &KeeperToViewer) {
        for viewer in self.viewers.values_mut().filter(|viewer| viewer.looks) {
            viewer.tell(message);
        }
    }

    /// Sends everybody away, once they have been told the rest.
    pub(super) async fn dismiss(&mut self) {
        self.viewers.clear();
        self.speakers.close();
        self.speakers.wait().await;
    }
}
