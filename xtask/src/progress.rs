//! What a person sees while steps run: numbered lines with the time each took.
//!
//! A step that takes long says so now and then with the last line of its output; a step that fails shows all of
//! its output and, where the cause is known, a sentence that says what to do. Plain lines without cursor
//! movement, so a terminal and a log file show the same.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::advice;
use crate::command::Failure;

/// How often a running step says that it is still there.
const STILL_RUNNING: Duration = Duration::from_secs(15);
/// Longest piece of a command's last line that is shown while it runs.
const GLIMPSE: usize = 90;

/// The steps of one run.
#[derive(Debug)]
pub(crate) struct Progress {
    total: usize,
    begun: usize,
    started: Instant,
    failed: Vec<&'static str>,
    /// What to do about the first failure, if that is known.
    advice: Option<&'static str>,
}

impl Progress {
    pub(crate) fn new(total: usize) -> Self {
        Self {
            total,
            begun: 0,
            started: Instant::now(),
            failed: Vec::new(),
            advice: None,
        }
    }

    /// Runs one step. Returns what it made, or nothing after having shown why it failed.
    pub(crate) fn step<T>(
        &mut self,
        name: &'static str,
        what: &str,
        work: impl FnOnce(&mut dyn FnMut(Duration, &str)) -> anyhow::Result<T>,
    ) -> Option<T> {
        self.begun += 1;
        let number = format!("[{}/{}]", self.begun, self.total);
        println!("{number} {name}: {what}");
        let started = Instant::now();
        let mut next = STILL_RUNNING;
        let outcome = work(&mut |elapsed, line| {
            if elapsed >= next {
                next = elapsed + STILL_RUNNING;
                println!("{number} {name}: {}", still_running(elapsed, line));
            }
        });
        let took = seconds(started.elapsed());
        match outcome {
            Ok(made) => {
                println!("{number} {name}: ok, {took}");
                Some(made)
            }
            Err(error) => {
                self.failed.push(name);
                self.advice = self.advice.or(advice::for_error(&error));
                print!("{}", report(&error));
                println!("{number} {name}: FAILED, {took}");
                None
            }
        }
    }

    /// Counts a step as failed that could not be begun.
    pub(crate) fn skip(&mut self, name: &'static str, why: &str) {
        self.begun += 1;
        self.failed.push(name);
        println!("[{}/{}] {name}: NOT RUN, {why}", self.begun, self.total);
    }

    /// The last line of the run: all well, or an error that names the failed steps.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let took = seconds(self.started.elapsed());
        if self.failed.is_empty() {
            match self.total {
                1 => println!("The step passed, {took}."),
                total => println!("All {total} steps passed, {took}."),
            }
            return Ok(());
        }
        let next = self.advice.unwrap_or("the reasons are above");
        anyhow::bail!(
            "{} of {} steps failed ({}), {took}; {next}",
            self.failed.len(),
            self.total,
            self.failed.join(", "),
        )
    }
}

/// The text shown for a failed step: output first, so that cause and advice stand last, where one looks.
fn report(error: &anyhow::Error) -> String {
    let mut text = String::new();
    if let Some(failure) = error.chain().find_map(|e| e.downcast_ref::<Failure>()) {
        for line in failure.output.lines() {
            let _ = writeln!(text, "    | {line}");
        }
    }
    let _ = writeln!(text, "    {error:#}");
    if let Some(advice) = advice::for_error(error) {
        let _ = writeln!(text, "    What to do: {advice}");
    }
    text
}

fn still_running(elapsed: Duration, line: &str) -> String {
    let glimpse: String = line.trim().chars().take(GLIMPSE).collect();
    match glimpse.as_str() {
        "" => format!("still running after {}", seconds(elapsed)),
        _ => format!("still running after {}: {glimpse}", seconds(elapsed)),
    }
}

fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        whole => format!("{} min {:02} s", whole / 60, whole % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Cause;

    #[test]
    fn times_read_well() {
        assert_eq!(seconds(Duration::from_millis(1234)), "1.2 s");
        assert_eq!(seconds(Duration::from_secs(125)), "2 min 05 s");
    }

    #[test]
    fn a_failed_step_shows_output_cause_and_advice() {
        let failure = Failure {
            cause: Cause::NotFound("npm".to_owned()),
            output: "some line\n".to_owned(),
        };
        let text = report(&anyhow::Error::new(failure).context("install failed"));
        let expected_start = "    | some line\n    install failed: `npm` is not installed or not on PATH\n    What to do: ";
        assert!(text.starts_with(expected_start), "{text}");
    }

    #[test]
    fn the_run_fails_when_one_step_does_and_names_it() {
        let mut progress = Progress::new(2);
        assert_eq!(progress.step("good", "works", |_| Ok(1)), Some(1));
        let broken = progress.step("bad", "breaks", |_| {
            anyhow::bail!("broken") as anyhow::Result<()>
        });
        assert_eq!(broken, None);
        let error = progress.finish().unwrap_err().to_string();
        assert!(error.starts_with("1 of 2 steps failed (bad)"), "{error}");
    }

    #[test]
    fn a_running_step_shows_its_last_line_shortened() {
        let long = "x".repeat(200);
        let text = still_running(Duration::from_secs(15), &long);
        assert_eq!(
            text,
            format!("still running after 15.0 s: {}", "x".repeat(GLIMPSE))
        );
    }
}
