//! A client that does not read harms itself alone.

use estelle_proto::ipc::{Cursor, Subscribe, Touch, Unsubscribe};
use estelle_proto::{ClaudeEvent, HostToPylon, RequestId, Seq};

use super::desk::passing;
use super::stage::{Stage, Stranger};

fn named(command: impl Into<estelle_proto::PylonToHost>, name: &str) -> estelle_proto::PylonToHost {
    let mut command = command.into();
    command.set_request_id(RequestId::parse(name).unwrap());
    command
}

/// Reads durable events until something else comes, which must be the cut-off.
async fn read_until_cut_off(guest: &mut Stranger) -> (u64, Vec<Cursor>) {
    let mut last = 0;
    loop {
        match guest.hear().await {
            Some(HostToPylon::Event(event)) => {
                let seq = event.seq.unwrap().0;
                assert_eq!(seq, last + 1, "no gap before the cut-off");
                last = seq;
            }
            Some(HostToPylon::CutOff(cut)) => return (last, cut.cursors),
            Some(HostToPylon::Subscribed(_) | HostToPylon::Snapshot(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn who_does_not_read_is_cut_off_with_its_cursor_and_nobody_else_notices() {
    let stage = Stage::new();
    let id = stage.desk.open("c", 0);
    let mut slow = stage.guest().await;
    slow.say(&Subscribe::new(id.clone()).into()).await;
    let mut quick = stage.client().await;
    quick.request(Subscribe::new(id.clone())).await.unwrap();
    while stage.desk.listeners(&id) < 2 {
        tokio::task::yield_now().await;
    }
    let text = "x".repeat(100_000);
    for seq in 1..=250 {
        stage.desk.publish(&id, &text);
        loop {
            if let HostToPylon::Event(event) = quick.receive().await.unwrap() {
                assert_eq!(event.seq, Some(Seq(seq)));
                break;
            }
        }
    }
    assert_eq!(
        stage.desk.listeners(&id),
        1,
        "the slow one is no longer waited for"
    );
    let (last, cursors) = read_until_cut_off(&mut slow).await;
    assert!(slow.hear().await.is_none());
    assert!(last > 0 && last < 250, "{last}");
    let [cursor] = &cursors[..] else {
        panic!("{cursors:?}")
    };
    assert_eq!((&cursor.session_id, cursor.seq), (&id, Seq(last)));
    assert_eq!(
        cursor.chain_hash.as_ref().unwrap().as_str(),
        format!("h{last}")
    );

    // It comes back with its cursor and misses nothing.
    let mut back = stage.guest().await;
    let again = Subscribe {
        epoch: Some(cursor.epoch),
        seq: Some(cursor.seq),
        chain_hash: cursor.chain_hash.clone(),
        ..Subscribe::new(id.clone())
    };
    back.say(&again.into()).await;
    let mut next = last + 1;
    while next <= 250 {
        if let HostToPylon::Event(event) = back.hear().await.unwrap() {
            assert_eq!(event.seq, Some(Seq(next)));
            next += 1;
        }
    }
}

#[tokio::test]
async fn pieces_of_text_are_joined_for_a_slow_reader() {
    let stage = Stage::new();
    let id = stage.desk.open("c", 0);
    let mut slow = stage.guest().await;
    slow.say(&Subscribe::new(id.clone()).into()).await;
    while stage.desk.listeners(&id) < 1 {
        tokio::task::yield_now().await;
    }
    for at in 0..100_000 {
        stage.desk.say(&id, at, "a");
    }
    stage
        .desk
        .roster
        .post_to_all(&estelle_host::mailbox::Letter::message(&passing(&id)));
    let (mut length, mut pieces) = (0, 0);
    loop {
        let HostToPylon::Event(event) = slow.hear().await.unwrap() else {
            continue;
        };
        let ClaudeEvent::Text(delta) = event.event else {
            break;
        };
        assert_eq!(delta.at, Some(length));
        length += delta.content.len() as u64;
        pieces += 1;
    }
    assert_eq!(length, 100_000);
    assert!(pieces < 100, "{pieces} pieces");
}

#[tokio::test]
async fn a_long_replay_that_nobody_reads_does_not_hold_up_commands() {
    let stage = Stage::new();
    let (long, short) = (stage.desk.open("long", 0), stage.desk.open("short", 0));
    for _ in 0..100 {
        stage.desk.publish(&long, &"x".repeat(100_000));
    }
    let mut guest = stage.guest().await;
    guest
        .say(&named(Subscribe::new(long.clone()), "replay"))
        .await;
    guest.say(&named(Touch::new(short), "touch")).await;
    while stage.desk.taken().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        stage.desk.listeners(&long),
        0,
        "the replay waits for its reader"
    );
    // A later word ends it, although nothing was read.
    guest
        .say(&named(Unsubscribe::new(long.clone()), "enough"))
        .await;
    let mut answers = Vec::new();
    while answers.len() < 3 {
        let heard = guest.hear_briefly().await;
        if !["claude_event", "subscribed"].contains(&heard.as_str()) {
            answers.push(heard);
        }
    }
    answers.sort();
    assert_eq!(answers, ["conflict replay", "done enough", "done touch"]);
    assert_eq!(stage.desk.listeners(&long), 0);
}
