//! Terminals over the gateway: real shells, seen through a terminal of the test's own.

use serde_json::{Value, json};

use super::client::{Api, Watcher};
use super::looker::{Looker, gone, marked, shell};
use crate::host::stage::Agent;
use crate::up::stage::{Machine, VIEWER_TOKEN};

#[tokio::test(flavor = "multi_thread")]
async fn a_shell_is_driven_by_two_and_tells_how_it_ended() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let id = shell(&api, &machine).await;
    let mut first = Looker::at(&api, &id, "?cols=100&rows=30").await;
    first.types("stty size; pwd; echo wh$((1+1))t\r").await;
    first.until_shown("30 100").await;
    first
        .until_shown(machine.path("work").to_str().unwrap())
        .await;
    first.until_shown("wh2t").await;
    // T9: another one sees the same, types, and its size counts from then on.
    let mut second = Looker::at(&api, &id, "").await;
    second.until_shown("wh2t").await;
    second
        .watcher
        .say(json!({"type": "resize", "cols": 60, "rows": 20}))
        .await;
    second.types("stty size\r").await;
    second.until_shown("20 60").await;
    first.until_shown("20 60").await;
    let size = first.screen.screen().size();
    assert_eq!((size.0.get(), size.1.get()), (20, 60));
    first.types("exit 3\r").await;
    for looker in [&mut first, &mut second] {
        let exit = looker.until_exit().await;
        assert_eq!(
            (&exit["exit_code"], &exit["state"]),
            (&json!(3), &json!("ended"))
        );
    }
    // The last screen can still be looked at, and typing is refused.
    let mut late = Looker::at(&api, &id, "").await;
    late.until_shown("exit 3").await;
    late.types("x").await;
    let refused = late.watcher.kind("error").await;
    assert_eq!(refused["code"], "conflict", "{refused}");
    let list = api.done("GET /api/terminals", None).await;
    assert_eq!(list["terminals"][0]["exit_code"], 3, "{list}");
    let line = format!("DELETE /api/terminals/{id}");
    assert_eq!(api.call(&line, None).await.status, 204);
    let list = api.done("GET /api/terminals", None).await;
    assert_eq!(list["terminals"], json!([]));
    let again = api.refused(&line, None).await;
    assert_eq!(again, (404, "unknown_terminal".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn t1_t2_a_terminal_needs_a_right_of_its_own() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let id = shell(&api, &machine).await;
    let viewer = Api {
        token: VIEWER_TOKEN.to_owned(),
        ..api.clone()
    };
    let wanted = json!({"kind": "shell", "cols": 80, "rows": 24, "path": "/"});
    for (line, body) in [
        ("GET /api/terminals".to_owned(), None),
        ("POST /api/terminals".to_owned(), Some(wanted)),
        (format!("DELETE /api/terminals/{id}"), None),
    ] {
        let refused = viewer.refused(&line, body).await;
        assert_eq!(refused, (403, "forbidden".to_owned()), "{line}");
    }
    let path = format!("/ws/terminals/{id}");
    let bearer = format!("Bearer {VIEWER_TOKEN}");
    assert!(
        api.knock(&path, &[("authorization", &bearer)])
            .await
            .is_err()
    );
    // One that says who it is by its first message.
    let socket = api.knock(&path, &[]).await.unwrap();
    let mut stranger = Watcher {
        socket,
        seen: Vec::new(),
    };
    stranger
        .say(json!({"type": "auth", "token": VIEWER_TOKEN}))
        .await;
    assert_eq!(stranger.end().await, Some(4401));
    // A paired device has it only if it was given it.
    let mut phone = machine.connect(&machine.phone).await;
    let refused = phone.ask("terminal_list", json!({})).await;
    assert_eq!(refused["errorCode"], "forbidden", "{refused}");
    let attach = json!({"terminalId": id});
    let refused = phone.ask("terminal_attach", attach).await;
    assert_eq!(refused["errorCode"], "forbidden", "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::too_many_lines, reason = "one story, told in its order")]
async fn t6_t11_bad_input_is_refused_and_the_terminal_goes_on() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let post = |body: Value| {
        let api = api.clone();
        async move { api.refused("POST /api/terminals", Some(body)).await }
    };
    let work = machine.path("work");
    for (body, status, code) in [
        (json!({}), 400, "invalid_message"),
        (
            json!({"kind": "shell", "cols": 0, "rows": 0, "path": work}),
            400,
            "invalid_message",
        ),
        (
            json!({"kind": "shell", "cols": 65535, "rows": 65535, "path": work}),
            400,
            "invalid_message",
        ),
        (
            json!({"kind": "shell", "cols": 80, "rows": 24}),
            400,
            "invalid_message",
        ),
        (
            json!({"kind": "agent", "cols": 80, "rows": 24, "path": work}),
            400,
            "invalid_message",
        ),
        (
            json!({"kind": "shell", "cols": 80, "rows": 24, "path": work, "prompt": "x"}),
            400,
            "invalid_message",
        ),
        (
            json!({"kind": "vim", "cols": 80, "rows": 24, "path": work}),
            400,
            "invalid_message",
        ),
        (
            json!({"kind": "shell", "cols": 80, "rows": 24, "path": "/no/such"}),
            422,
            "bad_path",
        ),
        (
            json!({"kind": "agent", "cols": 80, "rows": 24, "session_id": "none"}),
            404,
            "unknown_conversation",
        ),
        (
            json!({"kind": "shell", "cols": 80, "rows": 24, "workspace_id": "none"}),
            404,
            "unknown_workspace",
        ),
    ] {
        assert_eq!(
            post(body.clone()).await,
            (status, code.to_owned()),
            "{body}"
        );
    }
    let list = api.done("GET /api/terminals", None).await;
    assert_eq!(list["terminals"], json!([]), "nothing was started");
    let bearer = format!("Bearer {}", api.token);
    let unknown = api
        .knock("/ws/terminals/none", &[("authorization", &bearer)])
        .await;
    let mut unknown = Watcher {
        socket: unknown.unwrap(),
        seen: Vec::new(),
    };
    assert_eq!(unknown.end().await, Some(4404));
    assert_eq!(unknown.seen[0]["code"], "unknown_terminal");
    let id = shell(&api, &machine).await;
    let half = format!("/ws/terminals/{id}?cols=80");
    assert!(
        api.knock(&half, &[("authorization", &bearer)])
            .await
            .is_err()
    );
    let mut looker = Looker::at(&api, &id, "?cols=80&rows=24").await;
    for bad in [
        json!({"type": "resize", "cols": 0, "rows": 0}),
        json!({"type": "resize", "cols": 65535, "rows": 65535}),
        json!({"type": "restart"}),
        json!({"type": "input", "data": "x".repeat(65537)}),
        json!(["input"]),
    ] {
        looker.watcher.say(bad.clone()).await;
        let refused = looker.watcher.kind("error").await;
        assert_eq!(refused["code"], "invalid_message", "{bad:.40}");
    }
    // T6: a storm of sizes; the last one counts.
    for number in 0..1000_u16 {
        let (cols, rows) = (40 + number % 60, 10 + number % 20);
        looker
            .watcher
            .say(json!({"type": "resize", "cols": cols, "rows": rows}))
            .await;
    }
    looker
        .watcher
        .say(json!({"type": "resize", "cols": 90, "rows": 25}))
        .await;
    // T11: any bytes; then it is as before.
    looker
        .types("head -c 200000 /dev/urandom; printf '\\033c'; stty size\r")
        .await;
    looker.until_shown("25 90").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn t7_output_without_an_end_stops_nobody_and_is_stopped_by_a_key() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let id = shell(&api, &machine).await;
    let mut lazy = Looker::at(&api, &id, "").await;
    let mut looker = Looker::at(&api, &id, "").await;
    looker.types("yes garden\r").await;
    looker.until_shown("garden\ngarden\ngarden").await;
    // So much passes a viewer that the one who does not read is far behind.
    let mut bytes = 0;
    while bytes < 384 * 1024 {
        bytes += looker.see().await["data"].as_str().unwrap_or("").len();
    }
    let (keeper, _) = machine.terminal_pids(&id);
    let status = std::fs::read_to_string(format!("/proc/{keeper}/status")).unwrap();
    let resident = status.lines().find(|line| line.starts_with("VmRSS"));
    let resident: u64 = resident
        .and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap();
    assert!(resident < 200 * 1024, "{resident} KiB");
    looker.types("\u{3}").await;
    looker.types("echo st0$((1))ped\r").await;
    looker.until_shown("st01ped").await;
    // Who did not read sees it as well, by a whole screen; or was told to come again, if it read nothing for very long.
    while !lazy.shown().contains("st01ped") {
        if let Err(code) = lazy.try_see().await {
            assert_eq!(code, Some(1013), "come again");
            lazy = Looker::at(&api, &id, "").await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn t3_t4_t5_t12_what_runs_inside_reaches_neither_viewers_nor_us() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let id = shell(&api, &machine).await;
    let mut looker = Looker::at(&api, &id, "").await;
    let evil = "printf 'a\\033]52;c;ZXZpbA==\\007b\\033]0;evil\\007c\\033P$qm\\033\\\\d\\033[21te'; echo .\r";
    looker
        .watcher
        .say(json!({"type": "input", "data": evil}))
        .await;
    let mut all = String::new();
    while !all.contains("abcde.") {
        let message = looker.see().await;
        all.push_str(message["data"].as_str().unwrap_or_default());
    }
    assert!(!all.contains("\u{1b}]") && !all.contains("\u{1b}P"));
    // The keeper answers where the cursor is, once, although nobody's terminal was asked.
    let ask = "stty raw -echo; printf '\\033[3;7H\\033[6n'; head -c 6 | od -c | tr -d ' \\n'; stty sane\r";
    looker.types(ask).await;
    looker.until_shown("033[3;7R").await;
    // A paste cannot end itself.
    looker.types("\r").await;
    let paste = json!({"type": "paste", "data": "echo pa\u{1b}[201~st\u{3}ed"});
    looker.watcher.say(paste).await;
    looker.types("\r").await;
    looker.until_shown("pa[201~sted").await;
    // Nothing of ours is open inside, and no secret is in the environment.
    looker
        .types("clear; ls /proc/$$/fd | wc -l; ls -l /proc/$$/fd | grep -v pts; env | grep -c ESTELLE_; echo d0$((1))ne\r")
        .await;
    looker.until_shown("d01ne").await;
    let (keeper, program) = machine.terminal_pids(&id);
    let descriptors = std::fs::read_dir(format!("/proc/{program}/fd")).unwrap();
    for descriptor in descriptors.flatten() {
        let Ok(target) = std::fs::read_link(descriptor.path()) else {
            continue;
        };
        let target = target.to_string_lossy().into_owned();
        let is_own = target.starts_with("/dev/pts/") || target == "/dev/tty";
        assert!(is_own, "{target}");
    }
    let env = std::fs::read(format!("/proc/{program}/environ")).unwrap();
    let env = String::from_utf8_lossy(&env).into_owned();
    let ours: Vec<&str> = env
        .split('\0')
        .filter(|one| one.starts_with("ESTELLE_"))
        .collect();
    let foreign = ours.iter().filter(|one| !one.starts_with("ESTELLE_SIM_"));
    let foreign: Vec<_> = foreign.collect();
    assert_eq!(foreign, [&format!("ESTELLE_TERMINAL={id}").as_str()]);
    assert!(!env.contains(&api.token));
    // T5: the keeper has no terminal of its own that characters could be pushed into; the shell has one of its own.
    let terminal_of = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields = stat.rsplit_once(')').unwrap().1.to_owned();
        fields.split_whitespace().nth(4).unwrap().to_owned()
    };
    assert_eq!(terminal_of(keeper), "0");
    assert_ne!(terminal_of(program), "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn t10_nothing_is_left_of_a_terminal_that_is_closed() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let id = shell(&api, &machine).await;
    let mut looker = Looker::at(&api, &id, "").await;
    looker
        .types("trap '' HUP; sleep 10000 & setsid sleep 10001 & (setsid sh -c 'trap \"\" HUP TERM; sleep 10002; sleep 10003' &); echo b0$((1))gun\r")
        .await;
    looker.until_shown("b01gun").await;
    let (keeper, _) = machine.terminal_pids(&id);
    // The shell goes on as soon as it has started them.
    let all_there = async {
        while marked(&id).len() < 4 {
            tokio::task::yield_now().await;
        }
    };
    let all_there = tokio::time::timeout(super::client::PATIENCE, all_there).await;
    assert!(all_there.is_ok(), "{:?}", marked(&id));
    let line = format!("DELETE /api/terminals/{id}");
    assert_eq!(api.call(&line, None).await.status, 204);
    gone(keeper).await;
    assert_eq!(marked(&id), Vec::<u32>::new());
    let exit = looker.until_exit().await;
    assert_eq!(exit["state"], "ended", "{exit}");
    // A shell that is replaced by another program is still the terminal.
    let id = shell(&api, &machine).await;
    let mut looker = Looker::at(&api, &id, "").await;
    looker
        .types("exec sh -c 'echo re0$((1))laced; exit 7'\r")
        .await;
    assert_eq!(looker.until_exit().await["exit_code"], 7);
    assert!(looker.shown().contains("re01laced"), "{}", looker.shown());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_goes_over_the_relay() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    machine.end_up();
    let tablet = machine.device("view,terminal");
    machine.up();
    let mut tablet = machine.connect(&tablet).await;
    let size = json!({"cols": 80, "rows": 24});
    let create =
        json!({"kind": "shell", "size": size, "path": machine.path("work"), "terminalId": "t-own"});
    let made = tablet.done("terminal_create", create.clone()).await;
    assert_eq!(made["terminal"]["terminalId"], "t-own");
    let again = tablet.done("terminal_create", create).await;
    assert_eq!(again["terminal"], made["terminal"], "made once");
    let list = tablet.done("terminal_list", json!({})).await;
    assert_eq!(list["terminals"].as_array().unwrap().len(), 1, "{list}");
    let own = |more: Value| {
        let mut payload = json!({"terminalId": "t-own"});
        payload
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        payload
    };
    let refused = tablet
        .ask("terminal_input", own(json!({"data": "x"})))
        .await;
    assert_eq!(
        refused["errorCode"], "unknown_terminal",
        "not attached: {refused}"
    );
    let attached = tablet
        .brings_about("terminal_attach", own(json!({"size": size})))
        .await;
    assert_eq!(attached["terminal"]["state"], "running");
    let screen = tablet
        .until(|frame| frame["type"] == "terminal_output")
        .await;
    assert_eq!(screen["payload"]["screen"], size, "{screen}");
    assert_eq!(screen["payload"]["frame"], 1);
    let send = |kind: &str, payload: Value| json!({"type": kind, "to": {"deviceId": 1}, "payload": payload});
    tablet
        .send(&send("terminal_ack", own(json!({"frame": 1}))))
        .await;
    let wide = json!({"size": {"cols": 91, "rows": 24}});
    tablet.send(&send("terminal_resize", own(wide))).await;
    tablet
        .send(&send(
            "terminal_input",
            own(json!({"data": "stty size; exit 5\r"})),
        ))
        .await;
    tablet
        .until(|frame| {
            frame["payload"]["data"]
                .as_str()
                .is_some_and(|data| data.contains("24 91"))
        })
        .await;
    let ended = tablet
        .until(|frame| frame["type"] == "terminal_ended")
        .await;
    assert_eq!(ended["payload"]["exitCode"], 5, "{ended}");
    tablet.send(&send("terminal_detach", own(json!({})))).await;
    tablet.done("terminal_close", own(json!({}))).await;
    let gone = tablet.ask("terminal_attach", own(json!({}))).await;
    assert_eq!(gone["errorCode"], "unknown_terminal", "{gone}");
    let odd = tablet
        .ask(
            "terminal_resize",
            own(json!({"size": {"cols": 0, "rows": 0}})),
        )
        .await;
    assert_eq!(odd["errorCode"], "invalid_message", "{odd}");
}
