//! Looking into folders that were made to mislead.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use estelle_proto::files::FileKind;
use estelle_state::policy::DenyPatterns;
use tempfile::TempDir;

use super::{Chunk, Contents, Guard, Listing, LookError, Page, Piece, list, read};

/// A folder to look into, with another one beside it.
struct Scene {
    place: TempDir,
    guard: Guard,
}

impl Scene {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        for folder in ["work/inner", "work-secret", "data"] {
            fs::create_dir_all(place.path().join(folder)).unwrap();
        }
        let guard = Guard::new(DenyPatterns::default(), &place.path().join("data"));
        Self { place, guard }
    }

    fn base(&self) -> PathBuf {
        self.place.path().join("work")
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        let path = self.base().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    fn read(&self, name: &str) -> Result<Chunk, LookError> {
        self.piece(name, 0, 1000)
    }

    fn piece(&self, name: &str, offset: u64, limit: usize) -> Result<Chunk, LookError> {
        let piece = Piece {
            offset,
            limit,
            is_encoded: false,
        };
        read(&self.base(), Path::new(name), piece, &self.guard)
    }

    fn list(&self, name: &str, after: Option<&str>, limit: usize) -> Result<Listing, LookError> {
        let page = Page {
            after: after.map(str::to_owned),
            limit,
        };
        list(&self.base(), Path::new(name), &page)
    }
}

fn names(listing: &Listing) -> Vec<&str> {
    listing
        .entries
        .iter()
        .map(|entry| entry.name.as_str())
        .collect()
}

#[test]
fn a_folder_is_listed_page_by_page_whatever_its_names_are() {
    let scene = Scene::new();
    let long = "n".repeat(255);
    for name in [
        "B",
        "a",
        "-rf",
        "$(x)",
        "new\nline",
        "~",
        ".hidden",
        long.as_str(),
    ] {
        scene.write(name, "text");
    }
    let no_text = scene.base().join(OsStr::from_bytes(b"\xff\xfe"));
    fs::write(no_text, "").unwrap();
    let whole = scene.list("", None, 100).unwrap();
    let wanted = [
        "$(x)",
        "-rf",
        ".hidden",
        "a",
        "B",
        "inner",
        "new\nline",
        long.as_str(),
        "~",
    ];
    assert_eq!(names(&whole), wanted);
    assert_eq!((whole.total, whole.unnamed, whole.has_more), (9, 1, false));

    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = scene.list("", after.as_deref(), 2).unwrap();
        seen.extend(page.entries.iter().map(|entry| entry.name.clone()));
        if !page.has_more {
            break;
        }
        after = seen.last().cloned();
        // What goes in between moves nothing.
        let _ = fs::remove_file(scene.base().join("$(x)"));
    }
    assert_eq!(seen, wanted);
}

#[test]
fn entries_say_what_they_are_and_where_links_lead() {
    let scene = Scene::new();
    scene.write("file", "four");
    let base = scene.base();
    symlink("inner", base.join("to-folder")).unwrap();
    symlink(base.join("file"), base.join("to-file")).unwrap();
    symlink("../work-secret", base.join("to-outside")).unwrap();
    symlink("nowhere", base.join("to-nothing")).unwrap();
    symlink("circle", base.join("circle")).unwrap();
    pipe(&base.join("pipe"));
    let listing = scene.list("", None, 100).unwrap();
    let told = listing.entries.iter().map(|entry| {
        let target = entry
            .target_kind
            .as_ref()
            .map(|kind| kind.as_str().to_owned());
        (entry.name.as_str(), entry.kind.clone(), entry.size, target)
    });
    let some = |text: &str| Some(text.to_owned());
    let wanted = [
        ("circle", FileKind::Link, None, None),
        ("file", FileKind::File, Some(4), None),
        ("inner", FileKind::Folder, None, None),
        ("pipe", FileKind::Other, None, None),
        ("to-file", FileKind::Link, None, some("file")),
        ("to-folder", FileKind::Link, None, some("folder")),
        ("to-nothing", FileKind::Link, None, None),
        ("to-outside", FileKind::Link, None, None),
    ];
    assert_eq!(told.collect::<Vec<_>>(), wanted);
}

fn pipe(path: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let scene = Scene::new();
    let base = scene.base();
    fs::write(scene.place.path().join("work-secret/file"), "secret").unwrap();
    fs::write(scene.place.path().join("beside"), "secret").unwrap();
    symlink("../beside", base.join("link")).unwrap();
    symlink("link", base.join("chain")).unwrap();
    symlink(scene.place.path(), base.join("up")).unwrap();
    let absolute = scene.place.path().join("beside");
    let cases = [
        ("../beside", LookError::Outside),
        ("inner/../../beside", LookError::Outside),
        ("../work-secret/file", LookError::Outside),
        ("link", LookError::Outside),
        ("chain", LookError::Outside),
        ("up/beside", LookError::Outside),
        ("..", LookError::Outside),
        (absolute.to_str().unwrap(), LookError::Absolute),
        ("..%2fbeside", LookError::Missing),
        ("..\\beside", LookError::Missing),
        ("~/beside", LookError::Missing),
        ("none", LookError::Missing),
        ("inner/none/deeper", LookError::Missing),
    ];
    for (path, wanted) in cases {
        assert_eq!(scene.read(path).unwrap_err(), wanted, "{path}");
        assert_eq!(scene.list(path, None, 9).unwrap_err(), wanted, "{path}");
    }
    // A way that goes out and comes back names what is inside.
    scene.write("inner/file", "text");
    symlink(base.join("inner"), base.join("way")).unwrap();
    let found = scene.read("inner/../way/file").unwrap();
    assert_eq!(found.relative, Path::new("inner/file"));
}

#[test]
fn what_is_no_file_is_refused_and_nobody_waits_for_it() {
    let scene = Scene::new();
    let base = scene.base();
    pipe(&base.join("pipe"));
    let _socket = std::os::unix::net::UnixListener::bind(base.join("socket")).unwrap();
    for name in ["pipe", "socket", "inner"] {
        let refused = scene.read(name).unwrap_err();
        assert!(matches!(refused, LookError::WrongKind { .. }), "{name}");
    }
    let refused = scene.list("pipe", None, 9).unwrap_err();
    assert!(matches!(refused, LookError::WrongKind { .. }));
    // In a workspace that is the whole machine.
    let piece = Piece {
        offset: 0,
        limit: 10,
        is_encoded: true,
    };
    for name in [
        "dev/zero",
        "dev/tty",
        "proc/self/environ",
        "proc/self/status",
        "sys/kernel/uevent_seqnum",
    ] {
        let refused = read(Path::new("/"), Path::new(name), piece, &scene.guard).unwrap_err();
        let is_refused = matches!(refused, LookError::WrongKind { .. } | LookError::Missing);
        assert!(is_refused, "{name}: {refused}");
    }
}

#[test]
fn secrets_and_gits_own_files_are_not_shown_by_any_name() {
    let scene = Scene::new();
    scene.write(".env", "PASSWORD=1");
    scene.write("keys/id_rsa", "key");
    scene.write(".git/config", "[core]");
    scene.write("env.example", "PASSWORD=");
    symlink(".env", scene.base().join("harmless")).unwrap();
    symlink(".git", scene.base().join("repository")).unwrap();
    for name in [".env", "keys/id_rsa", "harmless"] {
        assert_eq!(scene.read(name).unwrap_err(), LookError::Secret, "{name}");
    }
    for name in [".git/config", "repository/config"] {
        assert_eq!(scene.read(name).unwrap_err(), LookError::GitsOwn, "{name}");
    }
    assert_eq!(scene.list(".git", None, 9).unwrap_err(), LookError::GitsOwn);
    scene.read("env.example").unwrap();
    let data = Guard::new(DenyPatterns::default(), &scene.base().join("inner"));
    scene.write("inner/pylon.txt", "ours");
    let piece = Piece {
        offset: 0,
        limit: 10,
        is_encoded: false,
    };
    let own = read(&scene.base(), Path::new("inner/pylon.txt"), piece, &data);
    assert_eq!(own.unwrap_err(), LookError::Secret);
}

#[test]
fn f8_a_second_name_of_a_secret_is_not_served() {
    let scene = Scene::new();
    let base = scene.base();
    scene.write(".env", "PASSWORD=1");
    scene.write("inner/deep/plain", "harmless");
    fs::create_dir_all(scene.place.path().join("home/.ssh")).unwrap();
    fs::write(scene.place.path().join("home/.ssh/id_ed25519"), "key").unwrap();
    fs::write(scene.place.path().join("data/rules.json"), "{}").unwrap();
    for (secret, name) in [
        ("work/.env", "notes.txt"),
        ("work/.env", "inner/deep/notes.txt"),
        ("home/.ssh/id_ed25519", "key.txt"),
        ("data/rules.json", "inner/ours"),
        ("work/inner/deep/plain", "copy.txt"),
    ] {
        fs::hard_link(scene.place.path().join(secret), base.join(name)).unwrap();
    }
    let guard = scene.guard.clone();
    let scene = Scene {
        guard: guard.with_home(Some(scene.place.path().join("home"))),
        ..scene
    };
    for name in ["notes.txt", "inner/deep/notes.txt", "key.txt", "inner/ours"] {
        assert_eq!(scene.read(name).unwrap_err(), LookError::Secret, "{name}");
    }
    for name in ["copy.txt", "inner/deep/plain"] {
        scene.read(name).unwrap();
    }
}

#[test]
fn text_is_read_in_chunks_that_end_between_characters() {
    let scene = Scene::new();
    let text = "a한국어😀z";
    scene.write("text", text);
    let mut whole = String::new();
    let mut offset = 0;
    loop {
        let chunk = scene.piece("text", offset, 4).unwrap();
        assert_eq!((chunk.size, chunk.offset), (text.len() as u64, offset));
        let Contents::Text(part) = chunk.contents else {
            panic!("{chunk:?}");
        };
        whole.push_str(&part);
        match chunk.next {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert_eq!(whole, text);
    let beyond = scene.piece("text", 1 << 40, 4).unwrap();
    assert_eq!(
        (beyond.contents, beyond.next),
        (Contents::Text(String::new()), None)
    );
}

#[test]
fn what_is_no_text_is_told_and_given_in_base64() {
    let scene = Scene::new();
    scene.write("zero", b"text\0more");
    scene.write("latin", b"caf\xe9");
    scene.write("cut", b"ends inside \xed\x95");
    for name in ["zero", "latin", "cut"] {
        let chunk = scene.read(name).unwrap();
        assert!(chunk.is_binary, "{name}");
        assert_eq!((chunk.contents, chunk.next), (Contents::Binary, None));
    }
    let piece = Piece {
        offset: 4,
        limit: 2,
        is_encoded: true,
    };
    let chunk = read(&scene.base(), Path::new("zero"), piece, &scene.guard).unwrap();
    assert_eq!(chunk.contents, Contents::Base64("AG0=".to_owned()));
    assert_eq!(chunk.next, Some(6));
}

#[test]
fn a_huge_file_costs_no_more_than_a_chunk() {
    let scene = Scene::new();
    let file = fs::File::create(scene.base().join("huge")).unwrap();
    file.set_len(10 << 30).unwrap();
    let piece = Piece {
        offset: 9 << 30,
        limit: 16,
        is_encoded: true,
    };
    let chunk = read(&scene.base(), Path::new("huge"), piece, &scene.guard).unwrap();
    assert_eq!(chunk.size, 10 << 30);
    assert_eq!(chunk.next, Some((9 << 30) + 16));
}
