//! The file tools: `Write` and `Edit` really change files inside the working directory, `Read` reads what is there.
//!
//! Outside of the working directory they only pretend, so that a script can never damage the machine it runs on.

use super::json::{Json, obj};
use super::state::Sim;
use super::tools::{Call, Form, Output};
use super::turn::Turn;

const CURRENT: &str = "(file state is current in your context — no need to Read it back)";

/// What makes an edit fail before anybody is asked.
pub(crate) fn misuse(sim: &Sim, call: &Call) -> Option<Output> {
    if !matches!(call.tool.as_str(), "Edit" | "Write") {
        return None;
    }
    let path = sim.absolute(call.input.text("file_path").unwrap_or_default());
    let (exists, known) = sim.with(|state| {
        let exists = state.work.disk.read(&path).is_some();
        (exists, state.chat.known_files.contains(&path))
    });
    if exists && !known {
        return Some(Output::misused(
            "File has not been read yet. Read it first before writing to it.",
        ));
    }
    if call.tool == "Write" {
        return None;
    }
    let old = call.input.text("old_string").unwrap_or_default();
    let Some(text) = sim.with(|state| state.work.disk.read(&path)) else {
        return Some(Output::misused(&format!(
            "File does not exist. Note: your current working directory is {}.",
            sim.setup().env.cwd
        )));
    };
    let missing = !text.contains(old);
    missing.then(|| {
        Output::misused(&format!(
            "String to replace not found in file.\nString: {old}"
        ))
    })
}

impl Sim {
    /// Replaces a file that lies inside; elsewhere nothing happens.
    fn put(&self, turn: &Turn, path: &str, text: &str) -> Result<Option<String>, String> {
        if !self.is_inside(path) {
            return Ok(None);
        }
        let original = self.with(|state| state.work.disk.read(path));
        if let Some(uuid) = turn.uuids.last() {
            self.with(|state| {
                let entry = (uuid.clone(), path.to_owned(), original.clone());
                state.chat.checkpoints.push(entry);
            });
        }
        self.with(|state| state.chat.known_files.insert(path.to_owned()));
        self.with(|state| state.work.disk.write(path, text))
            .map_err(|error| error.to_string())?;
        Ok(original)
    }

    /// `Write`.
    pub(crate) fn use_write(&self, turn: &Turn, call: &Call) -> Output {
        let given = call.input.text("file_path").unwrap_or_default();
        let content = call.input.text("content").unwrap_or_default();
        let original = match self.put(turn, &self.absolute(given), content) {
            Ok(original) => original,
            Err(text) => return Output::failed(text),
        };
        let (kind, said) = match &original {
            None => (
                "create",
                format!("File created successfully at: {given} {CURRENT}"),
            ),
            Some(_) => (
                "update",
                format!("The file {given} has been updated successfully. {CURRENT}"),
            ),
        };
        let patch = original.as_deref().map(|old| patch(old, content));
        Output {
            content: said.into(),
            form: Form::Plain,
            structured: obj! {
                "type" => kind,
                "filePath" => given,
                "content" => content,
                "structuredPatch" => patch.unwrap_or_default(),
                "originalFile" => original,
                "userModified" => false,
            },
        }
    }

    /// `Edit`.
    pub(crate) fn use_edit(&self, turn: &Turn, call: &Call) -> Output {
        let given = call.input.text("file_path").unwrap_or_default();
        let path = self.absolute(given);
        let (old, new) = (
            call.input.text("old_string").unwrap_or_default(),
            call.input.text("new_string").unwrap_or_default(),
        );
        let all = call.input.flag("replace_all");
        let before = self
            .with(|state| state.work.disk.read(&path))
            .unwrap_or_default();
        let after = if all {
            before.replace(old, new)
        } else {
            before.replacen(old, new, 1)
        };
        if let Err(text) = self.put(turn, &path, &after) {
            return Output::failed(text);
        }
        Output {
            content: format!("The file {given} has been updated successfully. {CURRENT}").into(),
            form: Form::Plain,
            structured: obj! {
                "filePath" => given,
                "oldString" => old,
                "newString" => new,
                "originalFile" => &before,
                "structuredPatch" => patch(&before, &after),
                "userModified" => false,
                "replaceAll" => all,
            },
        }
    }

    /// `Read`.
    pub(crate) fn use_read(&self, call: &Call) -> Output {
        let given = call.input.text("file_path").unwrap_or_default();
        let path = self.absolute(given);
        if let Some(picture) = self.picture(&path) {
            return picture;
        }
        let Some(text) = self.with(|state| state.work.disk.read(&path)) else {
            return Output::failed(format!(
                "File does not exist. Note: your current working directory is {}.",
                self.setup().env.cwd
            ));
        };
        self.with(|state| state.chat.known_files.insert(path));
        let lines: Vec<&str> = text.split('\n').collect();
        let numbered: Vec<String> = lines
            .iter()
            .enumerate()
            .map(|(index, line)| format!("{}\t{line}", index + 1))
            .collect();
        Output {
            content: numbered.join("\n").into(),
            form: Form::Plain,
            structured: obj! {
                "type" => "text",
                "file" => obj! {
                    "filePath" => given,
                    "content" => &text,
                    "numLines" => lines.len(),
                    "startLine" => 1,
                    "totalLines" => lines.len(),
                },
            },
        }
    }
}

impl Sim {
    /// A file that is a picture, as its bytes say: the model is shown it.
    fn picture(&self, path: &str) -> Option<Output> {
        let bytes = self.with(|state| state.work.disk.read_bytes(path))?;
        let (width, height) = size_of_png(&bytes)?;
        self.with(|state| state.chat.known_files.insert(path.to_owned()));
        let data = data_encoding::BASE64.encode(&bytes);
        let source = obj! { "type" => "base64", "data" => &data, "media_type" => "image/png" };
        Some(Output {
            content: vec![obj! { "type" => "image", "source" => source }].into(),
            form: Form::Plain,
            structured: obj! {
                "type" => "image",
                "file" => obj! {
                    "base64" => &data,
                    "type" => "image/png",
                    "originalSize" => bytes.len(),
                    "dimensions" => obj! {
                        "originalWidth" => width,
                        "originalHeight" => height,
                        "displayWidth" => width,
                        "displayHeight" => height,
                    },
                },
            },
        })
    }
}

/// Width and height, if it is a PNG.
fn size_of_png(bytes: &[u8]) -> Option<(u64, u64)> {
    let header = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?.get(8..16)?;
    let (width, height) = header.split_at_checked(4)?;
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    };
    Some((number(width), number(height)))
}

/// One hunk over the whole file: enough for whoever shows a change.
fn patch(before: &str, after: &str) -> Vec<Json> {
    let lines = |text: &str, sign: char| -> Vec<String> {
        text.lines().map(|line| format!("{sign}{line}")).collect()
    };
    let (old, new) = (lines(before, '-'), lines(after, '+'));
    let (old_count, new_count) = (old.len(), new.len());
    vec![obj! {
        "oldStart" => 1,
        "oldLines" => old_count,
        "newStart" => 1,
        "newLines" => new_count,
        "lines" => [old, new].concat(),
    }]
}
