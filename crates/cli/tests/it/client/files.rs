//! `estelle files` and `estelle diff`.

use super::{run, with_project};
use crate::conformance::files::repository;

#[tokio::test(flavor = "multi_thread")]
async fn a_person_looks_at_files_and_at_what_is_not_committed() {
    let (machine, id) = with_project().await;
    let work = machine.path("work");
    std::fs::create_dir(work.join("sub")).unwrap();
    std::fs::write(work.join("sub/a.txt"), "one\n").unwrap();
    std::fs::write(work.join("raw"), b"\x00\xff").unwrap();
    let listed = run(&machine, &["files", "Project"]).with_code(0).out;
    assert!(
        listed.contains("raw") && listed.contains("sub/"),
        "{listed}"
    );
    let entries = run(&machine, &["files", &id, "sub", "--json"]).with_code(0);
    assert_eq!(entries.lines()[0]["name"], "a.txt");
    let shown = run(&machine, &["files", "Project", "sub/a.txt", "--show"]);
    assert_eq!(shown.with_code(0).out, "one\n");
    let raw = machine
        .command(&["files", "Project", "raw", "--show"])
        .output();
    assert_eq!(raw.unwrap().stdout, b"\x00\xff");
    let refused = run(
        &machine,
        &["files", "Project", "../data/relay.json", "--show"],
    );
    assert!(refused.with_code(1).err.contains("leads out of the folder"));

    let none = run(&machine, &["diff", "Project"]).with_code(1);
    assert!(none.err.contains("no git repository"), "{none:?}");
    repository(&work);
    let clean = run(&machine, &["diff", "Project", "--stat"])
        .with_code(0)
        .out;
    assert!(
        clean.contains("main") && clean.contains("Nothing differs"),
        "{clean}"
    );
    std::fs::write(work.join("sub/a.txt"), "two\n").unwrap();
    let diff = run(&machine, &["diff", "Project", "sub"]).with_code(0).out;
    assert!(diff.contains("-one\n+two\n"), "{diff}");
    let told = run(&machine, &["diff", "Project", "--json"])
        .with_code(0)
        .lines();
    assert_eq!(told[0]["files"][0]["path"], "sub/a.txt");
    run(&machine, &["diff", "Nothing"]).with_code(5);
}
