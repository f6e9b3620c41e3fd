//! What the tools of a turn changed, from what history keeps of their calls.

use std::path::Path;

use estelle_proto::turns::{TurnChanges, TurnChangesResult, TurnFile};
use estelle_proto::{ApiError, ErrorCode, PathText, Reply as _, limits};

use super::context::{Asker, Context};
use super::conversations::known;
use super::error::{Told as _, refusal};
use crate::edits::{Edited, Edits};

pub(super) async fn changes(cx: &Context, asker: &Asker, request: TurnChanges) {
    let (workspace, id) = (&request.workspace_id, &request.conversation_id);
    let result = TurnChangesResult::new(cx.device(), workspace.clone(), id.clone(), Vec::new());
    let result = match try_changes(cx, &request, result.clone()).await {
        Ok(found) => found,
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

async fn try_changes(
    cx: &Context,
    request: &TurnChanges,
    result: TurnChangesResult,
) -> Result<TurnChangesResult, ApiError> {
    let id = request.conversation_id.clone();
    let folder = known(cx, &request.workspace_id, &id).await?.working_dir;
    let turn = cx.store.turn(id, request.seq).await;
    let Some(turn) = turn.map_err(|error| error.told())? else {
        let text = format!(
            "no entry of this conversation has the number {}",
            request.seq
        );
        return Err(refusal(ErrorCode::InvalidMessage, text));
    };
    let edits = Edits::of(&turn.calls);
    let count = edits.files.len();
    let mut room = limits::MAX_CHANGES_PAGE_BYTES;
    let files = edits.files.into_iter();
    let files = files.filter_map(|file| shown(cx, Path::new(folder.as_str()), file, &mut room));
    let files: Vec<TurnFile> = files.collect();
    let is_cut = turn.is_cut || edits.is_cut || files.len() < count;
    Ok(TurnChangesResult {
        from_seq: Some(turn.first),
        to_seq: Some(turn.last),
        running: (!turn.is_over).then_some(true),
        other_calls: (edits.others > 0).then_some(edits.others),
        truncated: is_cut.then_some(true),
        files,
        ..result
    })
}

/// A file as far as there is room; nothing if there is none even for its name.
fn shown(cx: &Context, folder: &Path, file: Edited, room: &mut usize) -> Option<TurnFile> {
    let real = folder.join(&file.path);
    let path = real.strip_prefix(folder).unwrap_or(&real);
    let path = PathText::parse(path.to_str()?).ok()?;
    let is_withheld = cx.config.guard.is_secret(&real);
    // The rest of an entry, and what escaping may add.
    let needed = 200 + 2 * path.as_str().len();
    *room = room.checked_sub(needed)?;
    let fits = 2 * file.diff.len() <= *room;
    if fits && !is_withheld {
        *room -= 2 * file.diff.len();
    }
    Some(TurnFile {
        diff: (fits && !is_withheld).then_some(file.diff),
        written: file.is_written.then_some(true),
        truncated: (!is_withheld && (file.is_cut || !fits)).then_some(true),
        withheld: is_withheld.then_some(true),
        ..TurnFile::new(path, file.calls, file.insertions, file.deletions)
    })
}
