//! Laws of the mailbox: order is kept, joined text equals its pieces, and a client that is cut off knows where it was.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use estelle_proto::events::{ClaudeEvent, TextDelta};
use estelle_proto::ipc::{HostToPylon, parse_line};
use estelle_proto::{ChainHash, ConversationId, Epoch, Generation, Seq};
use proptest::prelude::*;

use super::letter::JOINED_BYTES;
use super::queue::{Queue, Why};
use super::*;

fn conversation(number: u8) -> ConversationId {
    ConversationId::parse(&format!("conv-{number}")).unwrap()
}

fn mark(conversation_number: u8, seq: u64) -> Mark {
    Mark {
        session_id: conversation(conversation_number),
        epoch: Epoch(1),
        seq: Seq(seq),
        chain_hash: ChainHash::parse(&format!("hash-{seq}")).unwrap(),
    }
}

fn piece(conversation_number: u8, at: u64, content: &str) -> Letter {
    let delta = TextDelta {
        generation: Some(Generation(1)),
        block: Some(0),
        at: Some(at),
        ..TextDelta::new(content.to_owned())
    };
    Letter::text(conversation(conversation_number), delta)
}

fn units(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}

/// A line of a given size, shared like the lines of events are.
fn line_of(bytes: usize) -> Letter {
    static LONG: LazyLock<Arc<str>> = LazyLock::new(|| "x".repeat(8 * 1024 * 1024).into());
    match bytes {
        0x0080_0000 => Letter::line(Arc::clone(&LONG)),
        _ => Letter::line("x".repeat(bytes).into()),
    }
}

fn taken(reader: &mut MailReader) -> Vec<Mail> {
    let mut all = Vec::new();
    while let Some(mail) = reader.take() {
        let is_last = !matches!(mail, Mail::Line(_));
        all.push(mail);
        if is_last {
            break;
        }
    }
    all
}

fn cursor_list(marks: &[Mark]) -> Vec<Cursor> {
    marks.iter().map(Mark::cursor).collect()
}

/// What somebody does with a mailbox.
#[derive(Debug, Clone)]
enum Act {
    Event(u8),
    Line(usize),
    Text(u8, String),
    Take(usize),
    Forget(u8),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (0_u8..3).prop_map(Act::Event),
        1 => prop_oneof![1_usize..200, Just(8 * 1024 * 1024)].prop_map(Act::Line),
        6 => (0_u8..2, "[a-z🌙\\n가]{1,12}").prop_map(|(who, text)| Act::Text(who, text)),
        2 => (1_usize..6).prop_map(Act::Take),
        1 => (0_u8..3).prop_map(Act::Forget),
    ];
    prop::collection::vec(act, 1..120)
}

/// What a client sees, with text taken apart, so that it does not matter how it was joined.
#[derive(Debug, Clone, PartialEq)]
enum Atom {
    Event(u8, u64),
    Line(usize),
    Char(ConversationId, u64, char),
}

fn chars(session: &ConversationId, at: u64, text: &str) -> Vec<Atom> {
    let mut at = at;
    let mut atoms = Vec::new();
    for c in text.chars() {
        atoms.push(Atom::Char(session.clone(), at, c));
        at += c.len_utf16() as u64;
    }
    atoms
}

fn atoms_of(line: &str) -> Vec<Atom> {
    if let Some(rest) = line.strip_prefix("event ") {
        let (who, seq) = rest.split_once(' ').unwrap();
        return vec![Atom::Event(who.parse().unwrap(), seq.parse().unwrap())];
    }
    if line.starts_with('x') {
        return vec![Atom::Line(line.len())];
    }
    let HostToPylon::Event(event) = parse_line(line).unwrap() else {
        panic!("{line}");
    };
    let ClaudeEvent::Text(delta) = event.event else {
        panic!("{line}");
    };
    chars(&event.session_id, delta.at.unwrap(), &delta.content)
}

/// A mailbox beside what should come out of it.
struct Model {
    mailbox: Mailbox,
    reader: MailReader,
    posted: Vec<Atom>,
    seen: Vec<Atom>,
    cursors: BTreeMap<u8, u64>,
    /// Events that went in before their conversation was forgotten.
    stale: Vec<(u8, u64)>,
    seqs: [u64; 3],
    lengths: [u64; 2],
    is_cut: bool,
}

impl Model {
    fn new() -> Self {
        let (mailbox, reader) = mailbox();
        Self {
            mailbox,
            reader,
            posted: Vec::new(),
            seen: Vec::new(),
            cursors: BTreeMap::new(),
            stale: Vec::new(),
            seqs: [0; 3],
            lengths: [0; 2],
            is_cut: false,
        }
    }

    fn post(&mut self, letter: Letter, atoms: Vec<Atom>) {
        match self.mailbox.post(letter) {
            Ok(()) => self.posted.extend(atoms),
            Err(Closed) => self.is_cut = true,
        }
        assert!(self.reader.0.lock().bytes() <= LIMIT);
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Event(who) => {
                self.seqs[usize::from(who)] += 1;
                let seq = self.seqs[usize::from(who)];
                let line = format!("event {who} {seq}").into();
                self.post(
                    Letter::event(line, mark(who, seq)),
                    vec![Atom::Event(who, seq)],
                );
            }
            Act::Line(bytes) => self.post(line_of(bytes), vec![Atom::Line(bytes)]),
            Act::Text(who, text) => {
                let at = self.lengths[usize::from(who)];
                self.lengths[usize::from(who)] += units(&text);
                let atoms = chars(&conversation(who), at, &text);
                self.post(piece(who, at, &text), atoms);
            }
            Act::Take(count) => (0..count).for_each(|_| self.take()),
            Act::Forget(who) => {
                self.mailbox.forget(&conversation(who));
                self.cursors.remove(&who);
                self.stale
                    .extend((1..=self.seqs[usize::from(who)]).map(|seq| (who, seq)));
            }
        }
    }

    fn take(&mut self) {
        let Some(Mail::Line(line)) = self.reader.take() else {
            return;
        };
        for atom in atoms_of(&line) {
            if let Atom::Event(who, seq) = atom
                && !self.stale.contains(&(who, seq))
            {
                self.cursors.insert(who, seq);
            }
            self.seen.push(atom);
        }
    }

    fn check(mut self) {
        if self.is_cut {
            let cursors = self
                .cursors
                .iter()
                .map(|(who, seq)| mark(*who, *seq).cursor());
            assert_eq!(self.reader.take(), Some(Mail::CutOff(cursors.collect())));
            assert_eq!(self.seen, self.posted[..self.seen.len()]);
            assert!(self.mailbox.is_closed());
            return;
        }
        for _ in 0..self.posted.len() {
            self.take();
        }
        assert_eq!(self.seen, self.posted);
        assert_eq!(self.reader.take(), None);
        assert_eq!(self.reader.0.lock().bytes(), 0);
    }
}

proptest! {
    #[test]
    fn order_is_kept_and_nothing_is_lost_before_a_cut_off(acts in acts()) {
        let mut model = Model::new();
        for act in acts {
            model.act(act);
        }
        model.check();
    }
}

#[test]
fn pieces_that_wait_are_joined_and_others_are_not() {
    let (mailbox, mut reader) = mailbox();
    let mut texts = Vec::new();
    let pieces = [
        piece(1, 0, "🌙a"),
        piece(1, 3, "b"),
        // A piece is missing before this one; joining would hide it.
        piece(1, 9, "c"),
        piece(2, 10, "d"),
        piece(1, 10, "e"),
    ];
    for piece in pieces {
        mailbox.post(piece).unwrap();
    }
    for mail in taken(&mut reader) {
        let Mail::Line(line) = mail else {
            panic!("{mail:?}")
        };
        let HostToPylon::Event(event) = parse_line(&line).unwrap() else {
            panic!("{line}")
        };
        let ClaudeEvent::Text(delta) = event.event else {
            panic!("{line}")
        };
        texts.push((
            event.session_id.to_string(),
            delta.at.unwrap(),
            delta.content,
        ));
    }
    let text = |who: &str, at, content: &str| (who.to_owned(), at, content.to_owned());
    let expected = [
        text("conv-1", 0, "🌙ab"),
        text("conv-1", 9, "c"),
        text("conv-2", 10, "d"),
        text("conv-1", 10, "e"),
    ];
    assert_eq!(texts, expected);
}

#[test]
fn a_joined_text_still_fits_a_line() {
    let (mailbox, mut reader) = mailbox();
    // Each of these characters takes six bytes as JSON.
    let content = "\u{1}".repeat(JOINED_BYTES / 4);
    for number in 0..40 {
        mailbox
            .post(piece(1, number * units(&content), &content))
            .unwrap();
    }
    let mails = taken(&mut reader);
    assert_eq!(mails.len(), 10);
    for mail in mails {
        assert!(matches!(mail, Mail::Line(line) if line.len() < limits::MAX_IPC_LINE_BYTES));
    }
}

/// The number of a replayed event; live lines have none.
fn read_back(mail: &Mail) -> Option<u64> {
    let Mail::Line(line) = mail else {
        panic!("{mail:?}")
    };
    line.trim_start_matches('0').parse().ok()
}

fn assert_next(expected: u64, seq: u64) -> u64 {
    assert_eq!(seq, expected);
    seq + 1
}

#[tokio::test(start_paused = true)]
async fn a_replay_waits_for_room_and_leaves_some_for_what_happens_meanwhile() {
    let (mailbox, mut reader) = mailbox();
    let writer = mailbox.clone();
    let replay = async move {
        for seq in 1..=200 {
            let line = format!("{seq:0>60000}").into();
            writer
                .post_when_room(Letter::event(line, mark(1, seq)))
                .await
                .unwrap();
        }
    };
    let read = async {
        let mut next = 1_u64;
        let mut lives = 0;
        while next <= 200 {
            // Nothing is read for a while, and other things happen: more than a replay may fill.
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            mailbox.post(line_of(REPLAY_LIMIT)).unwrap();
            for mail in taken(&mut reader) {
                match read_back(&mail) {
                    None => lives += 1,
                    Some(seq) => next = assert_next(next, seq),
                }
            }
        }
        lives
    };
    let ((), lives) = tokio::join!(replay, read);
    assert!(lives >= 9, "twelve megabytes were read in {lives} steps");
}

#[test]
fn the_largest_lines_do_not_cut_a_reader_off() {
    let (mailbox, mut reader) = mailbox();
    mailbox.post(line_of(8 * 1024 * 1024)).unwrap();
    mailbox.post(line_of(8 * 1024 * 1024)).unwrap();
    assert_eq!(mailbox.post(line_of(8 * 1024 * 1024)), Err(Closed));
    assert_eq!(reader.take(), Some(Mail::CutOff(Vec::new())));
}

#[tokio::test]
async fn a_reader_that_waits_is_woken_by_a_letter_and_by_the_end() {
    let (mailbox, mut reader) = mailbox();
    let read = async {
        let first = reader.next().await;
        let second = reader.next().await;
        (first, second, reader.next().await)
    };
    let write = async {
        tokio::task::yield_now().await;
        mailbox.post(Letter::line("a".into())).unwrap();
        tokio::task::yield_now().await;
        mailbox.post(Letter::line("b".into())).unwrap();
        mailbox.finish();
        assert_eq!(mailbox.post(Letter::line("c".into())), Err(Closed));
    };
    let (mails, ()) = tokio::join!(read, write);
    assert_eq!(
        mails,
        (Mail::Line("a".into()), Mail::Line("b".into()), Mail::End)
    );
}

#[tokio::test]
async fn whoever_waits_for_room_is_told_that_the_client_is_gone() {
    let (mailbox, reader) = mailbox();
    mailbox.post(line_of(REPLAY_LIMIT)).unwrap();
    let wait = mailbox.post_when_room(line_of(1));
    let leave = async {
        tokio::task::yield_now().await;
        drop(reader);
    };
    let (posted, ()) = tokio::join!(wait, leave);
    assert_eq!(posted, Err(Closed));
    mailbox.closed().await;
}

#[test]
fn being_cut_off_is_not_forgotten_and_frees_what_waited() {
    let mut queue = Queue::default();
    queue.put(Letter::event("a".into(), mark(1, 7)));
    queue.put(Letter::event("b".into(), mark(1, 8)));
    assert_eq!(queue.take(), Some(Mail::Line("a".into())));
    queue.close(Why::Full);
    assert_eq!(queue.bytes(), 0);
    queue.close(Why::Finished);
    let cut = Some(Mail::CutOff(cursor_list(&[mark(1, 7)])));
    assert_eq!(
        (queue.take(), queue.take()),
        (cut, Some(Mail::CutOff(cursor_list(&[mark(1, 7)]))))
    );
}

#[test]
fn everybody_on_the_roster_gets_a_letter_and_the_dead_are_taken_off() {
    let roster = Roster::default();
    let (first, mut first_reader) = mailbox();
    let (second, second_reader) = mailbox();
    let (third, mut third_reader) = mailbox();
    let (_first, third_enlisted) = (roster.enlist(first), roster.enlist(third));
    let _second = roster.enlist(second);
    drop(second_reader);
    assert_eq!(roster.count(), 3);
    roster.post_to_all(&Letter::line("a".into()));
    assert_eq!(roster.count(), 2);
    drop(third_enlisted);
    roster.post_to_all(&Letter::line("b".into()));
    let lines = |reader: &mut MailReader| taken(reader).len();
    assert_eq!((lines(&mut first_reader), lines(&mut third_reader)), (2, 1));
}
