//! `estelle up` with a certificate of its own: the Pylon and the commands of this machine come in over TLS, and nobody who
//! does not know the certificate does.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use super::stage::Machine;
use crate::client::run;
use crate::host::stage::Agent;

#[tokio::test(flavor = "multi_thread")]
async fn everything_comes_in_over_tls() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    machine.kill_up();
    let own = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (machine.path("chain.pem"), machine.path("key.pem"));
    std::fs::write(&certificate, own.cert.pem()).unwrap();
    std::fs::write(&key, own.signing_key.serialize_pem()).unwrap();
    let (certificate, key) = (certificate.to_str().unwrap(), key.to_str().unwrap());
    let args = ["up", "--json", "--demo", "--listen", "127.0.0.1:0"];
    let mut command = machine.command(&args);
    let mut up = command
        .args(["--certificate", certificate, "--key", key])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(up.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    let greeting: Value = serde_json::from_str(&line).unwrap();
    let address = greeting["address"].as_str().unwrap();
    assert!(address.starts_with("https://127.0.0.1:"), "{greeting}");
    run(&machine, &["new", "workspace", "Secret"]).with_code(0);
    let listed = run(&machine, &["ls"]).with_code(0);
    assert!(listed.out.contains("Secret"), "{listed:?}");

    let token = machine.path("phone.token");
    std::fs::write(&token, &machine.phone).unwrap();
    let elsewhere = ["ls", "--address", address, "--token-file"];
    let mut command = machine.command(&elsewhere);
    let command = command.arg(&token);
    let stranger = command.output().unwrap();
    assert_eq!(
        stranger.status.code(),
        Some(6),
        "nobody vouches for it: {stranger:?}"
    );
    let trusting = command
        .env("ESTELLE_PYLON_AUTHORITIES", certificate)
        .output();
    assert!(trusting.unwrap().status.success());
    up.kill().unwrap();
    up.wait().unwrap();
}
