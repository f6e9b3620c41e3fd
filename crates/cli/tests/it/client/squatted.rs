//! Somebody else holds the port of a machine whose `estelle up` is gone.

use std::io::{ErrorKind, Read as _};
use std::net::TcpListener;

use super::{run, with_project};

#[tokio::test(flavor = "multi_thread")]
async fn l16_who_merely_holds_the_port_hears_nothing() {
    let (mut machine, conversation) = with_project().await;
    let url = machine.greeting["address"].as_str().unwrap().to_owned();
    let port = url.rsplit(':').next().unwrap().trim_end_matches('/');
    machine.kill_up();
    let squatter = TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    for args in [
        &["ls"][..],
        &["send", &conversation, "hello"],
        &["history", &conversation],
        &["devices", "list"],
    ] {
        let done = run(&machine, args);
        assert_ne!(done.code, 0, "{done:?}");
        assert!(done.err.contains("estelle up"), "{done:?}");
    }
    // The commands have ended: whatever they would have said waits here now.
    squatter.set_nonblocking(true).unwrap();
    match squatter.accept() {
        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
        Err(error) => panic!("{error}"),
        Ok((mut stream, _)) => {
            let mut heard = String::new();
            let _ = stream.read_to_string(&mut heard);
            panic!("a command spoke to a stranger: {heard:?}");
        }
    }
}
