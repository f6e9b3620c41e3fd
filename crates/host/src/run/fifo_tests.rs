//! The writer against a real FIFO whose reader is slow, stopped or gone.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use futures_util::FutureExt;
use rustix::fs::{CWD, Mode, mkfifoat};
use tempfile::TempDir;

use super::*;

struct Fifo {
    _place: TempDir,
    path: PathBuf,
    reader: File,
}

fn fifo() -> Fifo {
    let place = tempfile::tempdir().expect("a folder");
    let path = place.path().join("fifo");
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).expect("a FIFO");
    // Open both ways, as the CLI has it.
    let reader = File::options()
        .read(true)
        .write(true)
        .open(&path)
        .expect("a reader");
    Fifo {
        _place: place,
        path,
        reader,
    }
}

/// Reads exactly what was written, from another thread.
async fn read(fifo: &Fifo, length: usize) -> Vec<u8> {
    let mut reader = fifo.reader.try_clone().expect("a descriptor");
    let read = move || {
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes).expect("readable");
        bytes
    };
    tokio::task::spawn_blocking(read).await.expect("no panic")
}

fn line(length: usize, fill: u8) -> Vec<u8> {
    vec![fill; length - 1]
}

#[tokio::test]
async fn a_long_line_is_in_the_pipe_whole_before_anybody_reads() {
    let fifo = fifo();
    let mut writer = FifoWriter::open(&fifo.path).expect("open");
    writer
        .write(&line(900_000, b'x'))
        .await
        .expect("written without a reader's help");
    assert_eq!(ioctl_fionread(&fifo.reader).expect("readable"), 900_000);
    let bytes = read(&fifo, 900_000).await;
    assert!(bytes[..899_999].iter().all(|byte| *byte == b'x') && bytes.ends_with(b"\n"));
}

#[tokio::test]
async fn a_long_line_waits_for_an_empty_pipe_and_the_pipe_shrinks_again() {
    let fifo = fifo();
    let mut writer = FifoWriter::open(&fifo.path).expect("open");
    writer.write(b"first").await.expect("written");
    let long = line(300_000, b'y');
    let mut writing = Box::pin(writer.write(&long));
    assert!(
        writing.as_mut().now_or_never().is_none(),
        "it waits while the pipe holds something"
    );
    assert_eq!(ioctl_fionread(&fifo.reader).expect("readable"), 6);
    let (written, before) = tokio::join!(writing, read(&fifo, 6));
    written.expect("written");
    assert_eq!(before, b"first\n");
    read(&fifo, 300_000).await;
    writer.write(b"last").await.expect("written");
    assert_eq!(fcntl_getpipe_size(&fifo.reader).expect("a size"), RESTING);
    assert_eq!(read(&fifo, 5).await, b"last\n");
}

#[tokio::test]
async fn short_lines_fill_a_pipe_that_nobody_reads_and_none_is_torn() {
    let fifo = fifo();
    let mut writer = FifoWriter::open(&fifo.path).expect("open");
    let all = async {
        for fill in 0..40_u8 {
            writer
                .write(&line(ATOMIC, b'a' + fill % 26))
                .await
                .expect("written");
        }
    };
    let (bytes, ()) = tokio::join!(read(&fifo, 40 * ATOMIC), all);
    for (fill, written) in (0..40_u8).zip(bytes.chunks_exact(ATOMIC)) {
        assert!(
            written[..ATOMIC - 1]
                .iter()
                .all(|byte| *byte == b'a' + fill % 26)
        );
        assert!(written.ends_with(b"\n"));
    }
}

#[tokio::test]
async fn what_the_kernel_takes_in_parts_follows_in_order_and_nothing_comes_between() {
    let fifo = fifo();
    let writer = FifoWriter::open(&fifo.path).expect("open");
    // Twice what the pipe holds, so that it cannot take it in one piece.
    let mut bytes: Vec<u8> = (b'a'..b'x').cycle().take(2 * RESTING).collect();
    bytes.push(b'\n');
    let writing = writer.write_whole(&bytes);
    let (written, found) = tokio::join!(writing, read(&fifo, bytes.len()));
    written.expect("the rest followed");
    assert_eq!(found, bytes);
}

#[test]
fn half_a_line_is_never_called_nothing() {
    let broken = || io::Error::from(io::ErrorKind::OutOfMemory);
    let gone = io::Error::from(io::ErrorKind::BrokenPipe);
    assert!(matches!(refused(broken(), 0, 9), WriteError::Io(_)));
    assert!(matches!(refused(gone, 5, 9), WriteError::Gone));
    let torn = refused(broken(), 5, 9);
    assert!(
        matches!(
            torn,
            WriteError::Torn {
                written: 5,
                length: 9,
                ..
            }
        ),
        "{torn:?}"
    );
}

#[tokio::test]
async fn a_line_that_fits_no_pipe_is_refused_untouched() {
    let fifo = fifo();
    let mut writer = FifoWriter::open(&fifo.path).expect("open");
    let error = writer
        .write(&line(LONGEST + 1, b'z'))
        .await
        .expect_err("too long");
    assert_eq!(
        error.to_string(),
        "a line of 1048577 bytes is longer than the 1048576 that fit; put it into a file and name that"
    );
    assert_eq!(ioctl_fionread(&fifo.reader).expect("readable"), 0);
}

#[tokio::test]
async fn nobody_at_the_other_end_is_told_apart() {
    let Fifo {
        _place,
        path,
        reader,
    } = fifo();
    let mut writer = FifoWriter::open(&path).expect("open");
    drop(reader);
    assert!(matches!(writer.write(b"{}").await, Err(WriteError::Gone)));
    assert!(matches!(FifoWriter::open(&path), Err(WriteError::Gone)));
}
