//! What is sent to each who looks at a terminal: pure.
//!
//! What was sent and not acknowledged is bounded. A viewer that is behind is sent nothing more; once it has caught up it
//! is due a whole screen, in which everything it missed has its effect. So nobody makes the program or another viewer wait,
//! and nothing is shown with a hole in it.

use std::collections::VecDeque;

/// Outputs that may be under way to one viewer.
const MAX_FRAMES: usize = 256;
/// Bytes that may be under way to one viewer.
const MAX_BYTES: usize = 256 * 1024;

/// One who looks.
#[derive(Debug, Default)]
pub(super) struct Flow {
    last: u64,
    under_way: VecDeque<(u64, usize)>,
    bytes: usize,
    is_behind: bool,
}

impl Flow {
    /// Something is to be shown: its number, or nothing if the viewer is behind and will be due a screen.
    pub(super) fn output(&mut self, length: usize) -> Option<u64> {
        let has_room = self.under_way.len() < MAX_FRAMES && self.bytes + length <= MAX_BYTES;
        if self.is_behind || !has_room {
            self.is_behind = true;
            return None;
        }
        Some(self.send(length))
    }

    /// A whole screen is sent, whatever is under way: it is one, and the room is nearly free.
    pub(super) fn screen(&mut self, length: usize) -> u64 {
        self.is_behind = false;
        self.send(length)
    }

    /// What the viewer has is void: it needs a screen.
    pub(super) fn outdate(&mut self) {
        self.is_behind = true;
    }

    /// Whether a screen is due now: it is needed, and nearly everything before it was shown.
    pub(super) fn is_screen_due(&self) -> bool {
        self.is_behind && self.under_way.len() <= MAX_FRAMES / 8 && self.bytes <= MAX_BYTES / 8
    }

    /// Everything up to a number was shown.
    pub(super) fn acknowledge(&mut self, frame: u64) {
        while let Some((number, length)) = self.under_way.front()
            && *number <= frame
        {
            self.bytes -= length;
            self.under_way.pop_front();
        }
    }

    fn send(&mut self, length: usize) -> u64 {
        self.last += 1;
        self.bytes += length;
        self.under_way.push_back((self.last, length));
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_viewer_that_reads_is_told_everything() {
        let mut flow = Flow::default();
        for number in 1..=10_000 {
            assert_eq!(flow.output(1000), Some(number));
            flow.acknowledge(number);
            assert!(!flow.is_screen_due());
        }
    }

    #[test]
    fn t7_a_viewer_that_does_not_read_costs_a_bounded_room_and_gets_a_screen() {
        let mut flow = Flow::default();
        let sent = (0..10_000).filter(|_| flow.output(4096).is_some()).count();
        assert_eq!(sent, MAX_BYTES / 4096);
        assert!(!flow.is_screen_due(), "nothing of it was shown");
        flow.acknowledge(10);
        assert_eq!(flow.output(1), None, "there is a hole before it");
        flow.acknowledge(64);
        assert!(flow.is_screen_due());
        assert_eq!(flow.screen(100_000), 65);
        assert_eq!(flow.output(1), Some(66));
    }

    #[test]
    fn small_outputs_are_bounded_too() {
        let mut flow = Flow::default();
        let sent = (0..10_000).filter(|_| flow.output(1).is_some()).count();
        assert_eq!(sent, MAX_FRAMES);
    }

    #[test]
    fn acknowledging_what_was_never_sent_changes_nothing() {
        let mut flow = Flow::default();
        flow.acknowledge(u64::MAX);
        assert_eq!(flow.output(5), Some(1));
        flow.acknowledge(0);
        flow.acknowledge(u64::MAX);
        assert_eq!(flow.bytes, 0);
    }
}
