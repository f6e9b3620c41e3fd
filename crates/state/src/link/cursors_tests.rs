//! The cursors case by case, and against a host whose connection loses, repeats and swaps lines.

use std::collections::VecDeque;

use estelle_proto::ClaudeEvent;
use estelle_proto::ConversationStatus;
use estelle_proto::events::{TextComplete, TextDelta};
use estelle_proto::ipc::SessionStatus;
use proptest::prelude::*;

use super::*;

fn conversation(name: &str) -> ConversationId {
    ConversationId::parse(name).unwrap()
}

fn hash(epoch: u64, seq: u64) -> ChainHash {
    ChainHash::parse(&format!("h{epoch}-{seq}")).unwrap()
}

fn event(name: &str, epoch: u64, seq: u64) -> HostEvent {
    let text = TextComplete::new(format!("{epoch}/{seq}"));
    let mut event = HostEvent::new(conversation(name), text.into());
    event.epoch = Some(Epoch(epoch));
    event.seq = Some(Seq(seq));
    event.chain_hash = Some(hash(epoch, seq));
    event
}

fn snapshot(name: &str, epoch: u64, seq: u64) -> Snapshot {
    let status = SessionStatus::new(conversation(name), ConversationStatus::Idle);
    Snapshot::new(conversation(name), Epoch(epoch), Seq(seq), Box::new(status))
}

fn answer(ask: &Subscribe, epoch: u64, head: u64, fresh: bool) -> Subscribed {
    let mut answer = Subscribed::new(ask.session_id.clone(), Epoch(epoch), Seq(head), fresh);
    answer.request_id.clone_from(&ask.request_id);
    answer
}

/// One conversation `a`, at seq 3 of epoch 1 and live.
fn live_at_three() -> Cursors {
    let mut cursors = Cursors::new();
    let cursor = Cursor {
        epoch: Epoch(1),
        seq: Seq(3),
        chain_hash: Some(hash(1, 3)),
    };
    cursors.follow(conversation("a"), Some(cursor));
    cursors.connected();
    let asks = cursors.take_asks();
    assert_eq!(asks.len(), 1);
    assert_eq!((asks[0].epoch, asks[0].seq), (Some(Epoch(1)), Some(Seq(3))));
    assert_eq!(asks[0].chain_hash, Some(hash(1, 3)));
    assert_eq!(
        cursors.subscribed(&answer(&asks[0], 1, 3, false)),
        Verdict::Deliver
    );
    assert_eq!(cursors.snapshot(&snapshot("a", 1, 3)), Verdict::Deliver);
    cursors
}

#[test]
fn an_event_is_delivered_once() {
    let mut cursors = live_at_three();
    assert_eq!(cursors.event(&event("a", 1, 4)), Verdict::Deliver);
    let again = cursors.event(&event("a", 1, 4));
    assert_eq!(again, Verdict::Ignore(Ignored::Duplicate));
    assert_eq!(cursors.event(&event("a", 1, 5)), Verdict::Deliver);
    assert!(cursors.take_asks().is_empty());
}

#[test]
fn a_hole_is_asked_for_from_the_last_event_that_was_delivered() {
    let mut cursors = live_at_three();
    let early = cursors.event(&event("a", 1, 5));
    assert_eq!(early, Verdict::Ignore(Ignored::Gap));
    let asks = cursors.take_asks();
    assert_eq!(asks[0].seq, Some(Seq(3)));
    // What the old subscription still sends comes again in the replay.
    let rest = cursors.event(&event("a", 1, 6));
    assert_eq!(rest, Verdict::Ignore(Ignored::Early));
    assert_eq!(
        cursors.subscribed(&answer(&asks[0], 1, 6, false)),
        Verdict::Deliver
    );
    for seq in 4..=6 {
        assert_eq!(cursors.event(&event("a", 1, seq)), Verdict::Deliver);
    }
}

#[test]
fn a_snapshot_of_something_later_shows_a_hole_too() {
    let mut cursors = live_at_three();
    let later = cursors.snapshot(&snapshot("a", 1, 4));
    assert_eq!(later, Verdict::Ignore(Ignored::Gap));
    assert_eq!(cursors.take_asks().len(), 1);
}

#[test]
fn passing_events_go_through_without_a_number() {
    let mut cursors = live_at_three();
    let delta = ClaudeEvent::from(TextDelta::new("hi".to_owned()));
    let delta = HostEvent::new(conversation("a"), delta);
    assert_eq!(cursors.event(&delta), Verdict::Deliver);
    assert_eq!(cursors.cursor(&conversation("a")).unwrap().seq, Seq(3));
    cursors.lost();
    assert_eq!(cursors.event(&delta), Verdict::Ignore(Ignored::Early));
}

#[test]
fn a_rebuilt_log_is_taken_from_its_start() {
    let mut cursors = live_at_three();
    let other = cursors.event(&event("a", 2, 4));
    assert_eq!(other, Verdict::Ignore(Ignored::Gap));
    let asks = cursors.take_asks();
    assert_eq!(
        cursors.subscribed(&answer(&asks[0], 2, 2, true)),
        Verdict::Deliver
    );
    assert_eq!(cursors.event(&event("a", 2, 1)), Verdict::Deliver);
    assert_eq!(cursors.event(&event("a", 2, 2)), Verdict::Deliver);
    assert_eq!(cursors.cursor(&conversation("a")).unwrap().epoch, Epoch(2));
}

#[test]
fn the_same_number_with_another_hash_is_another_log() {
    let mut cursors = live_at_three();
    let mut forked = event("a", 1, 3);
    forked.chain_hash = Some(hash(9, 9));
    assert_eq!(cursors.event(&forked), Verdict::Ignore(Ignored::Gap));
}

#[test]
fn a_conversation_that_cannot_be_completed_does_not_spin() {
    let mut cursors = live_at_three();
    for _ in 0..MAX_GAPS {
        assert_eq!(
            cursors.event(&event("a", 1, 9)),
            Verdict::Ignore(Ignored::Gap)
        );
        let asks = cursors.take_asks();
        assert_eq!(
            cursors.subscribed(&answer(&asks[0], 1, 9, false)),
            Verdict::Deliver
        );
    }
    assert_eq!(
        cursors.event(&event("a", 1, 9)),
        Verdict::Ignore(Ignored::Stuck)
    );
    assert!(cursors.take_asks().is_empty());
    cursors.connected();
    assert_eq!(
        cursors.take_asks().len(),
        1,
        "the next connection tries again"
    );
}

#[test]
fn a_conversation_that_the_host_does_not_know_yet_is_asked_for_when_it_does() {
    let mut cursors = Cursors::new();
    cursors.follow(conversation("new"), None);
    cursors.connected();
    let ask = cursors.take_asks().remove(0);
    assert_eq!((ask.epoch, ask.seq), (None, None));
    assert!(cursors.refused(ask.request_id.as_ref().unwrap()));
    assert!(cursors.take_asks().is_empty());
    cursors.known(&conversation("new"));
    cursors.known(&conversation("new"));
    assert_eq!(cursors.take_asks().len(), 1);
}

#[test]
fn an_answer_to_an_earlier_question_is_not_taken() {
    let mut cursors = Cursors::new();
    cursors.follow(conversation("a"), None);
    cursors.connected();
    let first = cursors.take_asks().remove(0);
    assert!(cursors.forget(&conversation("a")));
    cursors.follow(conversation("a"), None);
    let second = cursors.take_asks().remove(0);
    let stale = cursors.subscribed(&answer(&first, 1, 0, true));
    assert_eq!(stale, Verdict::Ignore(Ignored::Early));
    assert_eq!(
        cursors.subscribed(&answer(&second, 1, 0, true)),
        Verdict::Deliver
    );
}

#[test]
fn a_thousand_conversations_come_a_few_at_a_time() {
    let mut cursors = Cursors::new();
    for index in 0..1000 {
        cursors.follow(conversation(&format!("c{index}")), None);
    }
    cursors.connected();
    let mut seen = 0;
    let mut open: VecDeque<_> = cursors.take_asks().into();
    while let Some(ask) = open.pop_front() {
        assert!(open.len() < MAX_REPLAYS);
        seen += 1;
        assert_eq!(
            cursors.subscribed(&answer(&ask, 1, 0, true)),
            Verdict::Deliver
        );
        let done = cursors.snapshot(&snapshot(ask.session_id.as_str(), 1, 0));
        assert_eq!(done, Verdict::Deliver);
        open.extend(cursors.take_asks());
    }
    assert_eq!(seen, 1000);
}

/// What the model says.
#[derive(Clone)]
enum Line {
    Subscribed(Subscribed),
    Event(Box<HostEvent>),
    Snapshot(Snapshot),
}

/// A host as the protocol has it, with a connection that loses and repeats lines.
#[derive(Default)]
struct ModelHost {
    epoch: u64,
    head: u64,
    is_subscribed: bool,
    wire: VecDeque<Line>,
}

impl ModelHost {
    fn append(&mut self) {
        self.head += 1;
        if self.is_subscribed {
            self.wire
                .push_back(Line::Event(Box::new(event("a", self.epoch, self.head))));
        }
    }

    fn subscribe(&mut self, ask: &Subscribe) {
        let proof = ask.seq.map(|seq| hash(self.epoch, seq.0));
        let is_ours = ask.epoch == Some(Epoch(self.epoch))
            && ask.seq.is_some_and(|seq| seq.0 <= self.head)
            && ask.chain_hash == proof;
        let from = if is_ours { ask.seq.unwrap().0 } else { 0 };
        let fresh = !is_ours && ask.seq.is_some();
        self.is_subscribed = true;
        self.wire
            .push_back(Line::Subscribed(answer(ask, self.epoch, self.head, fresh)));
        let replay =
            (from + 1..=self.head).map(|seq| Line::Event(Box::new(event("a", self.epoch, seq))));
        self.wire.extend(replay);
        self.wire
            .push_back(Line::Snapshot(snapshot("a", self.epoch, self.head)));
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Append,
    Read,
    Lose,
    Repeat,
    Swap,
    Cut,
    Rebuild,
}

/// What a reader keeps: the epoch and the numbers it was given.
#[derive(Debug, Default, PartialEq)]
struct Reader {
    epoch: u64,
    seqs: Vec<u64>,
}

fn read(cursors: &mut Cursors, reader: &mut Reader, message: &Line) {
    match message {
        Line::Subscribed(begun) => {
            if cursors.subscribed(begun) == Verdict::Deliver {
                reader.epoch = begun.epoch.0;
                if begun.fresh {
                    reader.seqs.clear();
                }
            }
        }
        Line::Event(event) => {
            if cursors.event(event) == Verdict::Deliver {
                assert_eq!(event.epoch, Some(Epoch(reader.epoch)));
                reader.seqs.push(event.seq.unwrap().0);
            }
        }
        Line::Snapshot(snapshot) => {
            let _ = cursors.snapshot(snapshot);
        }
    }
}

fn ask(cursors: &mut Cursors, host: &mut ModelHost) {
    for ask in cursors.take_asks() {
        host.subscribe(&ask);
    }
}

fn step(cursors: &mut Cursors, host: &mut ModelHost, reader: &mut Reader, step: Step) {
    match step {
        Step::Append => host.append(),
        Step::Read => {
            if let Some(message) = host.wire.pop_front() {
                read(cursors, reader, &message);
            }
        }
        Step::Lose => drop(host.wire.pop_front()),
        Step::Repeat => {
            let front = host.wire.front().cloned();
            host.wire.extend(front);
        }
        Step::Swap if host.wire.len() > 1 => host.wire.swap(0, 1),
        Step::Swap => {}
        Step::Cut => {
            host.wire.clear();
            host.is_subscribed = false;
            cursors.connected();
        }
        Step::Rebuild => {
            host.epoch += 1;
            host.head /= 2;
        }
    }
    ask(cursors, host);
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => Just(Step::Append),
        8 => Just(Step::Read),
        1 => Just(Step::Lose),
        1 => Just(Step::Repeat),
        1 => Just(Step::Swap),
        1 => Just(Step::Cut),
        1 => Just(Step::Rebuild),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever gets lost, repeated, swapped, cut or rebuilt: what was delivered is at all times the beginning of a log,
    /// without a hole and without a double, and after one good connection it is the whole log.
    #[test]
    fn every_event_arrives_once_and_in_order(steps in proptest::collection::vec(any_step(), 200..400)) {
        let mut host = ModelHost { epoch: 1, ..ModelHost::default() };
        let (mut cursors, mut reader) = (Cursors::new(), Reader::default());
        cursors.follow(conversation("a"), None);
        cursors.connected();
        ask(&mut cursors, &mut host);
        for next in steps {
            step(&mut cursors, &mut host, &mut reader, next);
            let dense: Vec<u64> = (1..=reader.seqs.len() as u64).collect();
            prop_assert_eq!(&reader.seqs, &dense);
        }
        step(&mut cursors, &mut host, &mut reader, Step::Cut);
        while !host.wire.is_empty() {
            step(&mut cursors, &mut host, &mut reader, Step::Read);
        }
        let whole = Reader { epoch: host.epoch, seqs: (1..=host.head).collect() };
        prop_assert_eq!(reader, whole);
    }
}
