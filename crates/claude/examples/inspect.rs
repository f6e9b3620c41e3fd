//! Says of every line on standard input what the SDK makes of it.
//!
//! Prints `typed <Kind>` or `unknown <type/subtype>` per line; what is no line of JSON at all is `unknown` with the
//! reason (`not-json`, `invalid-utf8`, `half-line`, `too-long`, ..). With `--emit` it writes the lines back instead,
//! byte for byte, through the same reader. It ends with 0 whatever the input, also when nobody reads its output.
//!
//! ```text
//! claude -p hi --output-format stream-json --verbose | cargo run -p estelle-claude --example inspect
//! ```

use std::io::{self, BufWriter, Read as _, Write};

use estelle_claude::framing::{Damage, Frame, Splitter};
use estelle_claude::wire::{Kind, Message};

/// Names on the wire can be of any length; a line for people is not.
const LONGEST_NAME: usize = 200;

#[derive(Clone, Copy)]
enum Mode {
    Describe,
    Emit,
}

fn main() {
    let mode = if std::env::args().any(|argument| argument == "--emit") {
        Mode::Emit
    } else {
        Mode::Describe
    };
    if let Err(error) = run(mode)
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        // Standard error may be closed as well; there is nobody left to tell.
        let _ = writeln!(io::stderr(), "inspect: stopped reading: {error}");
    }
}

fn run(mode: Mode) -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = BufWriter::new(io::stdout().lock());
    let mut splitter = match mode {
        Mode::Describe => Splitter::default(),
        // Nothing is dropped here, however long a line is: every byte has to come out again.
        Mode::Emit => Splitter::with_limit(usize::MAX),
    };
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let read = match input.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return output.flush().and(Err(error)),
        };
        splitter.push(&chunk[..read]);
        while let Some(frame) = splitter.next_frame() {
            show(&mut output, mode, &frame, b"\n")?;
        }
        output.flush()?;
    }
    if let Some(frame) = splitter.finish() {
        show(&mut output, mode, &frame, b"")?;
    }
    output.flush()
}

fn show(output: &mut impl Write, mode: Mode, frame: &Frame, end: &[u8]) -> io::Result<()> {
    match mode {
        Mode::Emit => {
            output.write_all(frame.bytes())?;
            output.write_all(end)
        }
        Mode::Describe => writeln!(output, "{}", describe(frame)),
    }
}

fn describe(frame: &Frame) -> String {
    match frame {
        Frame::Line(line) => {
            let message = Message::parse(line.clone());
            let kind = message.kind();
            let word = if kind.is_known() { "typed" } else { "unknown" };
            format!("{word} {}", printable(&kind))
        }
        Frame::Damage(damage) => format!(
            "unknown {}",
            match damage {
                Damage::InvalidUtf8 { .. } => "invalid-utf8",
                Damage::TooLong { .. } => "too-long",
                Damage::HalfLine { .. } => "half-line",
            }
        ),
    }
}

/// The kind on one line, whatever the wire says.
fn printable(kind: &Kind<'_>) -> String {
    let name: String = kind
        .to_string()
        .chars()
        .take(LONGEST_NAME)
        .flat_map(|c| {
            let plain = (!c.is_control()).then_some(c);
            plain
                .into_iter()
                .chain(c.escape_default().filter(move |_| plain.is_none()))
        })
        .collect();
    if name.is_empty() {
        "no-type".to_owned()
    } else {
        name
    }
}
