//! The folder on a real file system, with everything in it that does not belong there.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use estelle_proto::workspaces::TaskStatus;
use tempfile::TempDir;

use super::*;
use crate::tasks::task::with_status;

const AT: Timestamp = Timestamp(1_769_335_200_000);

fn workspace() -> (TempDir, TaskFolder) {
    let place = tempfile::tempdir().unwrap();
    let folder = TaskFolder::make(place.path()).unwrap();
    (place, folder)
}

fn set(folder: &TaskFolder, file: &str, status: &TaskStatus) -> Result<Task, FolderError> {
    folder.change(file, |text| with_status(text, status, None, AT))
}

fn hidden(folder: &TaskFolder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path_of(".")).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with('.')).collect()
}

#[test]
fn a_folder_that_leads_out_of_the_workspace_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let (inside, outside) = (place.path().join("in"), place.path().join("out"));
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::create_dir_all(&inside).unwrap();
    assert_eq!(TaskFolder::open(&inside).unwrap(), None);
    for target in [&outside, &inside, &place.path().join("nowhere")] {
        symlink(target, inside.join(FOLDER)).unwrap();
        let refused = TaskFolder::open(&inside).unwrap_err();
        assert!(matches!(refused, FolderError::Outside), "{refused}");
        assert!(TaskFolder::make(&inside).is_err());
        std::fs::remove_file(inside.join(FOLDER)).unwrap();
    }
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    std::fs::write(inside.join(FOLDER), "").unwrap();
    let refused = TaskFolder::open(&inside).unwrap_err();
    assert!(matches!(refused, FolderError::NoFolder), "{refused}");
    let gone = TaskFolder::open(&place.path().join("nowhere")).unwrap_err();
    assert!(matches!(gone, FolderError::NoWorkspace), "{gone}");
    std::fs::remove_file(inside.join(FOLDER)).unwrap();
    std::fs::create_dir(inside.join("docs")).unwrap();
    symlink("docs", inside.join(FOLDER)).unwrap();
    assert!(
        TaskFolder::open(&inside).unwrap().is_some(),
        "it stays within"
    );
}

#[test]
fn what_is_no_task_is_listed_with_its_problem_and_stays_as_it_is() {
    let (place, folder) = workspace();
    let path = |name: &str| folder.path_of(name);
    std::fs::write(place.path().join("secret.md"), "---\ntitle: secret\n---\n").unwrap();
    symlink(place.path().join("secret.md"), path("link.md")).unwrap();
    std::fs::create_dir(path("folder.md")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        path("pipe.md"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    std::fs::write(path("binary.md"), [0xff, 0xfe]).unwrap();
    std::fs::write(path("broken.md"), "---\nstatus: [\n").unwrap();
    let large = vec![b'x'; 1024 * 1024 + 1];
    std::fs::write(path("large.md"), large).unwrap();
    std::fs::write(path("notes.txt"), "").unwrap();
    std::fs::write(path(".hidden.md"), "").unwrap();
    let listed = folder.list().unwrap().tasks;
    assert_eq!(listed.len(), 6, "{listed:#?}");
    for task in &listed {
        assert!(task.problem.is_some(), "{task:?}");
        assert!(!task.title.contains("secret"), "{task:?}");
        let refused = set(&folder, &task.file, &TaskStatus::Done).unwrap_err();
        assert!(matches!(refused, FolderError::Damaged { .. }), "{refused}");
    }
    let broken = std::fs::read_to_string(path("broken.md")).unwrap();
    assert_eq!(broken, "---\nstatus: [\n");
}

#[test]
fn tasks_of_one_title_have_names_of_their_own() {
    let (_place, folder) = workspace();
    std::fs::write(folder.path_of("by-hand.md"), "---\nid: 20260125-a-2\n---\n").unwrap();
    let make = || folder.create("A", "work", AT).unwrap().file;
    assert_eq!(make(), "20260125-a.md");
    assert_eq!(make(), "20260125-a-3.md", "another file has that id");
    assert_eq!(make(), "20260125-a-4.md");
    assert_eq!(hidden(&folder), [""; 0]);
    let ids: HashSet<String> = folder
        .list()
        .unwrap()
        .tasks
        .into_iter()
        .map(|task| task.id)
        .collect();
    assert_eq!(ids.len(), 4);
}

#[test]
fn a_change_keeps_the_mode_of_the_file_and_what_others_wrote_meanwhile() {
    let (_place, folder) = workspace();
    let file = folder.create("A", "work", AT).unwrap().file;
    let path = folder.path_of(&file);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    // Somebody saves the file between our reading and our writing.
    let saved = std::cell::Cell::new(false);
    let done = folder.change(&file, |text| {
        if !saved.replace(true) {
            std::fs::write(&path, text.replace("work", "more work")).unwrap();
        }
        with_status(text, &TaskStatus::Done, None, AT)
    });
    assert_eq!(done.unwrap().status, TaskStatus::Done);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("more work") && text.contains("status: done"),
        "{text}"
    );
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o640);
    let endless = folder.change(&file, |text| {
        std::fs::write(&path, format!("{text}\n")).unwrap();
        with_status(text, &TaskStatus::Pending, None, AT)
    });
    let endless = endless.unwrap_err();
    assert!(matches!(endless, FolderError::Changing { .. }), "{endless}");
    assert_eq!(hidden(&folder), [""; 0], "nothing is left behind");
    std::fs::remove_file(&path).unwrap();
    let gone = set(&folder, &file, &TaskStatus::Done).unwrap_err();
    assert!(matches!(gone, FolderError::Gone { .. }), "{gone}");
}

#[test]
fn one_at_a_time_has_the_folder() {
    let (place, folder) = workspace();
    let lock = folder.lock().unwrap().unwrap();
    let other = TaskFolder::open(place.path()).unwrap().unwrap();
    assert!(other.lock().unwrap().is_none());
    drop(lock);
    assert!(other.lock().unwrap().is_some());
}

#[test]
fn a_full_disk_is_said_and_leaves_every_task_as_it_was() {
    let Some(disk) = crate::small_disk::SmallDisk::of(256) else {
        return;
    };
    let folder = TaskFolder::make(disk.path()).unwrap();
    let task = folder.create("Tidy", &"words ".repeat(2000), AT).unwrap();
    let before = folder.text(&task.file).unwrap();
    disk.fill_but(0);
    let full = |error: &FolderError| ApiError::from(error).code == ErrorCode::DiskFull;
    let refused = set(&folder, &task.file, &TaskStatus::Running).unwrap_err();
    assert!(full(&refused), "{refused:?}");
    let refused = folder
        .create("Next", &"words ".repeat(2000), AT)
        .unwrap_err();
    assert!(full(&refused), "{refused:?}");
    assert_eq!(folder.text(&task.file).unwrap(), before);
    assert_eq!(folder.list().unwrap().tasks.len(), 1);
    assert_eq!(hidden(&folder), [""; 0], "nothing half");
    disk.free();
    set(&folder, &task.file, &TaskStatus::Running).unwrap();
    folder.create("Next", "words", AT).unwrap();
}
