//! Child pipes with real processes: what comes out, how it ends, and that nothing is left behind.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::*;

fn shell(script: &str) -> Link {
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", script]);
    spawn(command, PipesConfig::default()).expect("a shell")
}

async fn next_line(link: &mut Link, frames: &mut VecDeque<Frame>) -> String {
    loop {
        match frames.pop_front() {
            Some(Frame::Line(text)) => return text.as_str().to_owned(),
            Some(Frame::Damage(damage)) => panic!("{damage}"),
            None => {
                link.source.read(frames).await.expect("readable");
            }
        }
    }
}

async fn first_line(link: &mut Link) -> String {
    next_line(link, &mut VecDeque::new()).await
}

fn watch(pid: &str) -> OwnedFd {
    let pid = Pid::from_raw(pid.trim().parse().expect("a number")).expect("a pid");
    pidfd_open(pid, PidfdFlags::empty()).expect("a living process")
}

/// Waits for a process that is not ours to wait for.
async fn gone(pidfd: OwnedFd) -> bool {
    let wait = move || {
        let limit = Timespec {
            tv_sec: 10,
            tv_nsec: 0,
        };
        let mut fds = [PollFd::new(&pidfd, PollFlags::IN)];
        poll(&mut fds, Some(&limit)).is_ok_and(|ready| ready > 0)
    };
    tokio::task::spawn_blocking(wait).await.expect("no panic")
}

#[tokio::test]
async fn the_exit_comes_with_code_and_last_words() {
    let mut link = shell("echo '{}'; echo the reason >&2; exit 3");
    assert_eq!(first_line(&mut link).await, "{}");
    assert_eq!(link.process.wait().await, Exit::Code(3));
    assert_eq!(link.process.stderr(), "the reason\n");
    assert_eq!(
        link.process.wait().await,
        Exit::Code(3),
        "asking again changes nothing"
    );
}

#[tokio::test]
async fn a_character_of_standard_error_is_never_cut_in_two() {
    let seen = Arc::new(std::sync::Mutex::new(String::new()));
    let sink = Arc::clone(&seen);
    let config = PipesConfig {
        stderr: Some(Arc::new(move |text| {
            sink.lock().expect("no panic").push_str(text);
        })),
        ..PipesConfig::default()
    };
    let mut command = std::process::Command::new("/bin/sh");
    // More than is read at once, so that a character stands across the edge of a piece.
    command.args([
        "-c",
        "printf '%05000d' 0 | sed 's/0/\u{e9}\u{1f980}/g; s/^/x/' >&2; printf '\\303' >&2",
    ]);
    let mut link = spawn(command, config).expect("a shell");
    link.process.wait().await;
    let seen = seen.lock().expect("no panic");
    assert!(
        *seen == format!("x{}\u{fffd}", "\u{e9}\u{1f980}".repeat(5000)),
        "{} bytes with {} broken characters",
        seen.len(),
        seen.matches('\u{fffd}').count()
    );
}

#[tokio::test]
async fn a_line_larger_than_the_pipe_goes_through_whole() {
    let Link {
        mut source,
        mut sink,
        mut process,
    } = shell("exec cat");
    let line = Line::from(format!("\"{}\"", "x".repeat(1_000_000)));
    let write = async {
        sink.write(&line).await.expect("written");
        sink.close().await;
    };
    let read = async {
        let mut frames = VecDeque::new();
        while source.read(&mut frames).await.expect("readable") == Progress::More {}
        frames
    };
    let ((), frames) = tokio::join!(write, read);
    assert_eq!(frames, [Frame::Line(line)]);
    assert_eq!(process.wait().await, Exit::Code(0));
}

#[tokio::test]
async fn writing_after_the_end_of_input_is_refused() {
    let mut link = shell("exec cat");
    link.sink.close().await;
    let error = link.sink.write(&"{}".into()).await.expect_err("closed");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn a_kill_reaches_the_whole_process_group() {
    let mut link = shell("sleep 1000 & echo $!; wait");
    let grandchild = watch(&first_line(&mut link).await);
    link.process.stop(Stop::Kill);
    assert_eq!(link.process.wait().await, Exit::Signal(9));
    assert!(gone(grandchild).await, "the grandchild lives on");
}

#[tokio::test]
async fn dropping_the_link_leaves_no_process_and_no_zombie() {
    let mut link = shell("echo $$; exec sleep 1000");
    let pid = first_line(&mut link).await;
    let child = watch(&pid);
    drop(link);
    assert!(gone(child).await, "the child lives on");
}

#[test]
fn a_runtime_that_goes_down_takes_the_child_with_it() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let (link, child) = runtime.block_on(async {
        let mut link = shell("echo $$; exec sleep 1000");
        let child = watch(&first_line(&mut link).await);
        (link, child)
    });
    drop(runtime);
    drop(link);
    let after = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    assert!(after.block_on(gone(child)), "the child lives on");
}
