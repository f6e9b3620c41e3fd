//! Bug reports of people, in one file: a line of JSON each, with where it came from.
//!
//! A report is on the disk before it is acknowledged. A line that a crash cut short is closed before the next one is
//! written, and passed over when the file is read. The file has a limit, so that nobody fills the disk with reports.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use estelle_proto::{ConversationId, DeviceId, DeviceKey, IsoTime, ReportText, WorkspaceId};
use serde::{Deserialize, Serialize};

/// The name of the file in the data folder.
pub const FILE: &str = "bug-reports.jsonl";

/// The most that is kept: a thousand reports of the largest size.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// A report, and what was the case when it was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bug {
    /// When it came, by the clock of the Pylon.
    pub received_at: IsoTime,
    /// When it was written, by the clock of the device.
    pub timestamp: IsoTime,
    /// What is wrong.
    pub message: ReportText,
    /// Which Pylon took it.
    pub pylon_id: DeviceId,
    /// The build of that Pylon.
    pub version: String,
    /// The number of the device on its connection.
    pub device_id: DeviceId,
    /// The name of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_name: Option<String>,
    /// The paired device, the same after every reconnect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_key: Option<DeviceKey>,
    /// The build of the app, if it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_version: Option<String>,
    /// The workspace of the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// What it is about: the conversation that was named, or the one that the device looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<ConversationId>,
}

/// Why a report was not kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// Too many were kept already.
    #[error(
        "{MOST_BYTES} bytes of reports are kept; read them with `estelle bugs`, then move {FILE} away"
    )]
    Full,
    /// The disk failed.
    #[error("failed to write the report")]
    Io(#[from] io::Error),
    /// It could not be written down.
    #[error("failed to write the report as JSON")]
    Encode(#[from] serde_json::Error),
}

/// Writes a report behind the others, and waits until the disk has it.
pub fn keep(file: &Path, bug: &Bug) -> Result<(), KeepError> {
    let mut options = OpenOptions::new();
    let options = options.create(true).read(true).append(true).mode(0o600);
    let mut out = options.open(file)?;
    let length = out.metadata()?.len();
    let mut line = serde_json::to_vec(bug)?;
    line.push(b'\n');
    if length + line.len() as u64 > MOST_BYTES {
        return Err(KeepError::Full);
    }
    if is_cut_short(&mut out, length)? {
        line.insert(0, b'\n');
    }
    out.write_all(&line)?;
    Ok(out.sync_data()?)
}

/// Whether the last line has no end.
fn is_cut_short(file: &mut File, length: u64) -> io::Result<bool> {
    if length == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// All reports, oldest first. A file that is not there holds none.
pub fn list(file: &Path) -> io::Result<Vec<Bug>> {
    let file = match File::open(file) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut bugs = Vec::new();
    for line in BufReader::new(file).split(b'\n') {
        // What a crash left of a line is no report; it was never acknowledged.
        bugs.extend(serde_json::from_slice::<Bug>(&line?));
    }
    Ok(bugs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bug(text: &str) -> Bug {
        let time = IsoTime::parse("2026-01-25T10:00:00.000Z").unwrap();
        Bug {
            received_at: time.clone(),
            timestamp: time,
            message: ReportText::parse(text).unwrap(),
            pylon_id: DeviceId(1),
            version: "1.0".to_owned(),
            device_id: DeviceId(100),
            device_name: Some("Phone".to_owned()),
            device_key: None,
            app_version: None,
            workspace_id: None,
            conversation_id: None,
        }
    }

    #[test]
    fn reports_are_kept_in_order_and_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join(FILE);
        assert_eq!(list(&file).unwrap(), []);
        keep(&file, &bug("one\ntwo")).unwrap();
        keep(&file, &bug("three")).unwrap();
        assert_eq!(list(&file).unwrap(), [bug("one\ntwo"), bug("three")]);
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_line_that_was_cut_short_spoils_no_other() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join(FILE);
        keep(&file, &bug("one")).unwrap();
        let whole = std::fs::read(&file).unwrap();
        let torn = [&whole[..], &whole[..whole.len() / 2]].concat();
        std::fs::write(&file, torn).unwrap();
        keep(&file, &bug("two")).unwrap();
        assert_eq!(list(&file).unwrap(), [bug("one"), bug("two")]);
    }

    #[test]
    fn a_full_file_takes_no_more_and_says_what_to_do() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join(FILE);
        File::create(&file).unwrap().set_len(MOST_BYTES).unwrap();
        let error = keep(&file, &bug("one")).unwrap_err();
        assert!(error.to_string().contains("estelle bugs"), "{error}");
        assert_eq!(file.metadata().unwrap().len(), MOST_BYTES);
    }
}
