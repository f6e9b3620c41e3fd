//! `estelle send` at a terminal: the person is asked, and what they type is the answer.

use estelle_sim::script::Script;
use rexpect::reader::Options;
use rexpect::session::spawn_with_options;
use serde_json::json;

use super::with_project;

#[tokio::test(flavor = "multi_thread")]
async fn a_person_at_the_terminal_is_asked() {
    let (machine, _) = with_project().await;
    let file = machine.path("work/a.txt");
    let write = json!({"file_path": &file, "content": "written"});
    let script = Script::new().tool("Write", write).say("it is done");
    let mut command = machine.command(&["send", "Project", &script.prompt()]);
    command.env("TERM", "xterm");
    let options = Options::new()
        .timeout_ms(Some(40_000))
        .strip_ansi_escape_codes(true);
    let mut session = spawn_with_options(command, options).unwrap();
    session.exp_string("It asks to use Write").unwrap();
    session.exp_string("Allow? y/a/n").unwrap();
    session.send_line("perhaps").unwrap();
    session.exp_string("Type y for yes").unwrap();
    assert!(!file.exists(), "only a clear answer counts");
    session.send_line("y").unwrap();
    session.exp_string("it is done").unwrap();
    session.exp_eof().unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "written");
}
