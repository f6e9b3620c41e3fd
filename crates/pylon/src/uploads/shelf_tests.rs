//! Files that come in pieces: in order, once, whole, or not at all.

use super::*;

struct Scene {
    place: tempfile::TempDir,
    uploads: Uploads,
    conversation: ConversationId,
}

const TEXT: &[u8] = b"roses are red";

impl Scene {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let uploads = Uploads::new(place.path().join("uploads"));
        let conversation = ConversationId::parse("c1").unwrap();
        Self {
            place,
            uploads,
            conversation,
        }
    }

    /// A Pylon that was started anew remembers nothing.
    fn again(&mut self) {
        self.uploads = Uploads::new(self.place.path().join("uploads"));
    }

    fn start(&self, id: &str, wanted: &Wanted) -> Result<Progress, UploadError> {
        self.uploads.start(&self.conversation, &blob(id), wanted)
    }

    fn chunk(&self, id: &str, index: u64, bytes: &[u8]) -> Result<u64, UploadError> {
        self.uploads
            .chunk(&self.conversation, &blob(id), index, bytes)
    }

    fn end(&self, id: &str, text: &[u8]) -> Result<Kept, UploadError> {
        self.uploads
            .end(&self.conversation, &blob(id), &checksum(text))
    }

    fn home(&self) -> PathBuf {
        self.place.path().join("uploads/c1")
    }
}

fn blob(id: &str) -> BlobId {
    BlobId::parse(id).unwrap()
}

fn checksum(text: &[u8]) -> String {
    let sum = aws_lc_rs::digest::digest(&SHA256, text);
    format!("sha256:{}", data_encoding::HEXLOWER.encode(sum.as_ref()))
}

fn wanted() -> Wanted {
    Wanted {
        filename: "a rose.txt".to_owned(),
        mime_type: "text/plain".to_owned(),
        total_size: TEXT.len() as u64,
        chunk_size: 5,
    }
}

fn next(progress: &Progress) -> u64 {
    assert_eq!(progress.kept, None);
    progress.next
}

#[test]
fn a_file_comes_in_pieces_over_deaths_and_is_there_once() {
    let mut scene = Scene::new();
    assert_eq!(next(&scene.start("b", &wanted()).unwrap()), 0);
    assert_eq!(scene.chunk("b", 0, &TEXT[..5]).unwrap(), 1);
    scene.again();
    assert_eq!(next(&scene.start("b", &wanted()).unwrap()), 1);
    // The answer was lost, so it comes again.
    assert_eq!(scene.chunk("b", 0, &TEXT[..5]).unwrap(), 1);
    // Of a chunk only a piece was written.
    let part = scene.home().join("b.part");
    let mut file = OpenOptions::new().append(true).open(&part).unwrap();
    file.write_all(b"xx").unwrap();
    scene.again();
    assert_eq!(next(&scene.start("b", &wanted()).unwrap()), 1);
    assert_eq!(scene.chunk("b", 1, &TEXT[5..10]).unwrap(), 2);
    assert_eq!(scene.chunk("b", 2, &TEXT[10..]).unwrap(), 3);
    let kept = scene.end("b", TEXT).unwrap();
    assert_eq!(fs::read(&kept.path).unwrap(), TEXT);
    assert_eq!(kept.path.file_name().unwrap(), "a_rose.txt");
    scene.again();
    // Whatever is asked again is answered as it was.
    assert_eq!(scene.end("b", TEXT).unwrap(), kept);
    assert_eq!(
        scene.start("b", &wanted()).unwrap().kept,
        Some(kept.clone())
    );
    assert_eq!(scene.chunk("b", 2, &TEXT[10..]).unwrap(), 3);
    let found = scene.uploads.find(&scene.conversation, &kept.id).unwrap();
    assert_eq!(found, kept);
    let left: Vec<_> = fs::read_dir(scene.home()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing but the file is left: {left:?}");
    scene.uploads.forget(&scene.conversation).unwrap();
    scene.uploads.forget(&scene.conversation).unwrap();
    assert!(!kept.path.exists());
}

#[test]
fn one_that_died_before_it_took_the_note_away_is_whole() {
    let scene = Scene::new();
    scene.start("b", &wanted()).unwrap();
    let note = fs::read(scene.home().join("b.json")).unwrap();
    for (index, piece) in TEXT.chunks(5).enumerate() {
        scene.chunk("b", index as u64, piece).unwrap();
    }
    let kept = scene.end("b", TEXT).unwrap();
    fs::write(scene.home().join("b.json"), note).unwrap();
    assert_eq!(scene.end("b", TEXT).unwrap(), kept);
    assert!(!scene.home().join("b.json").exists());
    // A note that a power cut left empty is none.
    fs::write(scene.home().join("c.json"), "").unwrap();
    assert!(matches!(
        scene.chunk("c", 0, b"x"),
        Err(UploadError::Unknown)
    ));
    assert_eq!(next(&scene.start("c", &wanted()).unwrap()), 0);
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_of_it_is_kept() {
    let scene = Scene::new();
    let with = |change: fn(&mut Wanted)| {
        let mut wanted = wanted();
        change(&mut wanted);
        wanted
    };
    let large = with(|wanted| wanted.total_size = limits::MAX_BLOB_BYTES + 1);
    let wide = with(|wanted| wanted.chunk_size = limits::MAX_BLOB_CHUNK_BYTES + 1);
    for wanted in [large, wide] {
        let refused = scene.start("b", &wanted);
        assert!(matches!(refused, Err(UploadError::TooLarge { .. })));
    }
    let path = with(|wanted| wanted.filename = "../x".to_owned());
    assert!(matches!(scene.start("b", &path), Err(UploadError::Name(_))));
    let endless = with(|wanted| wanted.chunk_size = 0);
    let typeless = with(|wanted| wanted.mime_type = "a\nb".to_owned());
    for wanted in [endless, typeless] {
        let refused = scene.start("b", &wanted);
        assert!(matches!(refused, Err(UploadError::Wrong(_))));
    }
    assert!(!scene.home().exists(), "nothing was begun");
    assert!(matches!(
        scene.chunk("b", 0, b"x"),
        Err(UploadError::Unknown)
    ));
    assert!(matches!(scene.end("b", TEXT), Err(UploadError::Unknown)));
    let nobody = FileId::parse("0").unwrap();
    let found = scene.uploads.find(&scene.conversation, &nobody);
    assert!(matches!(found, Err(UploadError::Unknown)));

    scene.start("b", &wanted()).unwrap();
    let other = with(|wanted| wanted.total_size = 4);
    let is_conflict = |error: &UploadError| matches!(error, UploadError::Conflict(_));
    assert!(is_conflict(&scene.start("b", &other).unwrap_err()));
    assert!(is_conflict(&scene.chunk("b", 1, &TEXT[5..10]).unwrap_err()));
    assert!(is_conflict(&scene.end("b", TEXT).unwrap_err()), "too soon");
    let note = FileId::parse("b.json").unwrap();
    let found = scene.uploads.find(&scene.conversation, &note);
    assert!(matches!(found, Err(UploadError::Unknown)), "it is no file");
    for (index, bytes) in [(0, &TEXT[..4]), (0, &TEXT[..6]), (3, &TEXT[..5])] {
        let refused = scene.chunk("b", index, bytes);
        assert!(matches!(refused, Err(UploadError::Wrong(_))), "{index}");
    }
    for sum in ["", "md5:00", "sha256:00", "sha256:zz"] {
        let refused = scene.uploads.end(&scene.conversation, &blob("b"), sum);
        assert!(matches!(refused, Err(UploadError::Wrong(_))), "{sum}");
    }
}

#[test]
fn what_is_not_what_the_checksum_says_is_forgotten_and_can_be_sent_again() {
    let scene = Scene::new();
    let send = || {
        scene.start("b", &wanted()).unwrap();
        for (index, piece) in TEXT.chunks(5).enumerate() {
            scene.chunk("b", index as u64, piece).unwrap();
        }
    };
    send();
    let refused = scene.end("b", b"violets are blue").unwrap_err();
    assert!(matches!(refused, UploadError::Conflict(_)), "{refused}");
    assert!(matches!(scene.end("b", TEXT), Err(UploadError::Unknown)));
    assert_eq!(fs::read_dir(scene.home()).unwrap().count(), 0);
    send();
    assert!(scene.end("b", TEXT).is_ok());
}

#[test]
fn an_empty_file_is_a_file() {
    let scene = Scene::new();
    let empty = Wanted {
        total_size: 0,
        ..wanted()
    };
    assert_eq!(next(&scene.start("b", &empty).unwrap()), 0);
    assert_eq!(scene.end("b", b"").unwrap().size, 0);
}

#[test]
fn what_nobody_finishes_is_bounded_and_forgotten_after_a_day() {
    let scene = Scene::new();
    for index in 0..MOST_ON_THEIR_WAY {
        scene.start(&format!("b{index}"), &wanted()).unwrap();
    }
    let refused = scene.start("one-more", &wanted()).unwrap_err();
    assert!(matches!(refused, UploadError::Conflict(_)), "{refused}");
    let part = File::open(scene.home().join("b0.part")).unwrap();
    let long_ago = SystemTime::now() - FORGOTTEN_AFTER - Duration::from_mins(1);
    part.set_modified(long_ago).unwrap();
    scene.start("one-more", &wanted()).unwrap();
    assert!(matches!(
        scene.chunk("b0", 0, &TEXT[..5]),
        Err(UploadError::Unknown)
    ));
}

#[test]
fn a_full_disk_is_said_so() {
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
        assert!(matches!(io::Error::from(kind).into(), UploadError::Full));
    }
}

#[test]
fn a_full_disk_keeps_what_came_and_the_rest_comes_when_there_is_room() {
    // Little more than is left for everything else.
    let Some(disk) = crate::small_disk::SmallDisk::of(RESERVE / 1024 + 16 * 1024) else {
        return;
    };
    let mut scene = Scene::new();
    scene.uploads = Uploads::new(disk.path().join("uploads"));
    let text: Vec<u8> = (0..=250).cycle().take(150_000).collect();
    let wanted = Wanted {
        total_size: 150_000,
        chunk_size: 50_000,
        ..wanted()
    };
    scene.start("b", &wanted).unwrap();
    scene.chunk("b", 0, &text[..50_000]).unwrap();
    disk.fill_but(20);
    let refused = scene.chunk("b", 1, &text[50_000..100_000]).unwrap_err();
    assert!(matches!(refused, UploadError::Full), "{refused:?}");
    assert!(scene.end("b", &text).is_err(), "half of it is no file");
    disk.free();
    assert_eq!(next(&scene.start("b", &wanted).unwrap()), 1);
    scene.chunk("b", 1, &text[50_000..100_000]).unwrap();
    scene.chunk("b", 2, &text[100_000..]).unwrap();
    let kept = scene.end("b", &text).unwrap();
    assert_eq!(fs::read(&kept.path).unwrap(), text);
}
