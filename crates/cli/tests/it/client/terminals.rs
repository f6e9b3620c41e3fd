//! `estelle terminal` at a terminal: a shell is opened, left, found again after everything was killed, and ended.

use rexpect::reader::Options;
use rexpect::session::{PtySession, spawn_with_options};

use super::run;
use crate::host::stage::Agent;
use crate::up::stage::Machine;

fn at_a_terminal(machine: &Machine, args: &[&str]) -> PtySession {
    let options = Options::new().timeout_ms(Some(60_000));
    let mut command = machine.command(args);
    command.env("TERM", "xterm");
    spawn_with_options(command, options).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shell_is_left_and_gone_on_with_from_the_command_line() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    let mut first = at_a_terminal(&machine, &["terminal", "open"]);
    first.exp_string("nobody is asked").unwrap();
    first.send_line("echo ga$((40+2))den").unwrap();
    first.exp_string("ga42den").unwrap();
    // Ctrl-] leaves; the terminal goes on.
    first.send_control(']').unwrap();
    first.exp_string("it goes on").unwrap();
    first.exp_eof().unwrap();
    let list = run(&machine, &["terminal", "ls"]).with_code(0).out;
    assert!(list.contains("shell  running"), "{list}");
    let id = list.split_whitespace().next().unwrap().to_owned();
    machine.kill_up();
    machine.kill_host();
    machine.up();
    let mut again = at_a_terminal(&machine, &["terminal", "attach", &id]);
    again.exp_string("ga42den").unwrap();
    again.send_line("exit 9").unwrap();
    again.exp_eof().unwrap();
    let ended = again.process().wait().unwrap();
    assert!(format!("{ended:?}").contains('9'), "{ended:?}");
    let list = run(&machine, &["terminal", "ls"]).with_code(0).out;
    assert!(list.contains("ended with 9"), "{list}");
    run(&machine, &["terminal", "close", &id]).with_code(0);
    let none = run(&machine, &["terminal", "ls", "--json"]).with_code(0);
    assert_eq!(none.lines()[0]["terminals"].as_array().unwrap().len(), 0);
    run(&machine, &["terminal", "close", &id]).with_code(5);
    run(&machine, &["terminal", "attach", "../x"]).with_code(2);
}
