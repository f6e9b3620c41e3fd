//! What files mean as tasks.

use super::*;

const AT: Timestamp = Timestamp(1_769_335_200_000);

fn task(file: &str, lines: &str) -> Task {
    Task::read(file, &format!("---\n{lines}---\n"))
}

fn problem(text: &str) -> String {
    let task = Task::read("20260125-x.md", text);
    assert_eq!(task.status, TaskStatus::Failed);
    assert_eq!(task.id, "20260125-x");
    assert!(!task.is_waiting());
    task.problem.unwrap()
}

#[test]
fn a_file_made_here_says_what_was_asked_for() {
    let text = compose("20260125-a", "A: \"quoted\" title", "# Goal\n\nwork", AT);
    let task = Task::read("20260125-a.md", &text);
    assert_eq!(task.id, "20260125-a");
    assert_eq!(task.title, "A: \"quoted\" title");
    assert!(task.is_waiting());
    assert_eq!(task.created_at.as_deref(), Some("2026-01-25T10:00:00.000Z"));
    assert_eq!(task.whole(&text).content, "\n# Goal\n\nwork\n");
    assert_eq!(task.whole(&text).truncated, None);
    let long = compose("a", "a", &"가".repeat(10_001), AT);
    let whole = Task::read("a.md", &long).whole(&long);
    assert_eq!(whole.content.chars().count(), 10_000);
    assert_eq!(whole.truncated, Some(true));
}

#[test]
fn what_a_file_made_by_hand_leaves_out_is_filled_in() {
    let task = Task::read(
        "20260125-by-hand.md",
        "---\nowner: me\n---\n\n# By hand\ntext\n",
    );
    assert_eq!(task.id, "20260125-by-hand");
    assert_eq!(task.title, "By hand");
    assert!(task.is_waiting());
    assert_eq!(
        self::task("x.md", "status: Done\n").status,
        TaskStatus::Done
    );
}

#[test]
fn a_file_that_is_no_task_stands_with_its_problem() {
    assert!(problem("# Readme\n").contains("no front matter"));
    assert!(problem("---\nstatus: pending\n").contains("not closed"));
    assert!(problem("---\nstatus: soon\n---\n").contains("`soon`"));
    assert!(problem("---\nid: a\nid: b\n---\n").contains("twice"));
    assert!(problem("---\ntitle: \"open\n---\n").contains("quotation mark"));
}

#[test]
fn a_status_comes_with_its_times_and_goes_with_them() {
    let made = compose("a", "A", "work", AT);
    let later = Timestamp(AT.0 + 60_000);
    let running = with_status(&made, &TaskStatus::Running, None, AT).unwrap();
    let task = Task::read("a.md", &running);
    assert_eq!(task.started_at.as_deref(), Some("2026-01-25T10:00:00.000Z"));
    let again = with_status(&running, &TaskStatus::Running, None, later).unwrap();
    assert_eq!(again, running, "it began once");
    let failed = with_status(&running, &TaskStatus::Failed, Some("why: so"), later).unwrap();
    let task = Task::read("a.md", &failed);
    assert_eq!(task.error.as_deref(), Some("why: so"));
    assert_eq!(
        task.completed_at.as_deref(),
        Some("2026-01-25T10:01:00.000Z")
    );
    let pending = with_status(&failed, &TaskStatus::Pending, None, later).unwrap();
    let task = Task::read("a.md", &pending);
    assert_eq!((task.error, task.completed_at), (None, None));
    let unreadable = with_status("# no task", &TaskStatus::Done, None, AT);
    assert_eq!(unreadable, Err(MatterError::Missing));
}

#[test]
fn the_first_that_was_written_is_the_next() {
    let mut tasks = vec![
        task("20260125-b.md", "createdAt: 2026-01-25T10:00:00Z\n"),
        task("20260125-a.md", "createdAt: 2026-01-25T11:00:00Z\n"),
        task("20260124-z.md", "status: done\n"),
        task("notes.md", "id: n\n"),
        task("20260126-c.md", ""),
    ];
    arrange(&mut tasks);
    let files: Vec<&str> = tasks.iter().map(|task| task.file.as_str()).collect();
    let newest_first = [
        "notes.md",
        "20260126-c.md",
        "20260125-a.md",
        "20260125-b.md",
        "20260124-z.md",
    ];
    assert_eq!(files, newest_first);
    assert_eq!(first_waiting(&tasks).unwrap().file, "20260125-b.md");
    assert_eq!(queue(&tasks), TaskQueue::new(4, 5));
}

#[test]
fn tasks_of_one_id_are_not_run_and_can_be_told_apart_by_their_files() {
    let mut tasks = vec![
        task("a.md", "id: same\n"),
        task("b.md", "id: same\nstatus: done\n"),
        task("c.md", "id: a\n"),
    ];
    arrange(&mut tasks);
    assert_eq!(first_waiting(&tasks).unwrap().file, "c.md");
    let found = |id: &str| find(&tasks, id).map(|task| task.file.clone());
    let several = found("same").unwrap_err();
    assert!(several.to_string().contains("a.md"), "{several}");
    assert_eq!(found("a.md").unwrap(), "a.md");
    assert_eq!(found("a").unwrap(), "c.md");
    let unknown = Err(FindError::Unknown("../a.md".to_owned()));
    assert_eq!(found("../a.md"), unknown);
    let shown = find(&tasks, "b.md").unwrap().summary();
    assert!(shown.problem.unwrap().contains("a.md"));
    assert_eq!(
        shown.status,
        TaskStatus::Done,
        "what it says is not changed"
    );
}

#[test]
fn what_people_wrote_while_it_ran_is_believed() {
    let running = begin(&compose("a", "A", "work", AT), AT).unwrap();
    assert_eq!(Task::read("a.md", &running).status, TaskStatus::Running);
    assert_eq!(begin(&running, Timestamp(0)).unwrap(), running);
    let done = end(&running, &TaskStatus::Done, None, AT).unwrap();
    assert_eq!(
        end(&done, &TaskStatus::Failed, Some("x"), AT).unwrap(),
        done
    );
    let by_agent = running.replace("status: running", "status: failed\nerror: cannot be done");
    let ended = end(&by_agent, &TaskStatus::Done, None, AT).unwrap();
    let task = Task::read("a.md", &ended);
    assert_eq!(task.status, TaskStatus::Failed);
    assert_eq!(task.error.as_deref(), Some("cannot be done"));
    assert!(task.completed_at.is_some());
    // An editor that had the file open saved what it knew.
    let stale = running.replace("status: running", "status: pending");
    let ended = end(&stale, &TaskStatus::Done, None, AT).unwrap();
    assert_eq!(Task::read("a.md", &ended).status, TaskStatus::Done);
    let back = put_back(&running, AT).unwrap();
    assert!(Task::read("a.md", &back).is_waiting());
    assert_eq!(put_back(&done, AT).unwrap(), done);
}
