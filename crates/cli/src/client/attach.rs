//! Files that go with a message: sent in pieces, each of which may be sent again.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use aws_lc_rs::digest::{Context as Sum, SHA256};
use data_encoding::{BASE64, HEXLOWER};
use estelle_proto::blobs::{BlobChunk, BlobEnd, BlobStart};
use estelle_proto::{BlobId, FileId, limits};

use super::session::Session;

/// A file that can be sent.
pub(super) struct Open {
    file: File,
    name: String,
    size: u64,
}

/// Opens all of them before anything is sent.
pub(super) fn open_all(paths: &[PathBuf]) -> anyhow::Result<Vec<Open>> {
    if paths.len() > limits::MAX_ATTACHED_FILES {
        let most = limits::MAX_ATTACHED_FILES;
        bail!("{} files are attached, at most {most}", paths.len());
    }
    paths.iter().map(|path| open(path)).collect()
}

fn open(path: &Path) -> anyhow::Result<Open> {
    let shown = path.display();
    // What is no file might never end, or never begin.
    let found = std::fs::metadata(path).with_context(|| format!("failed to attach {shown}"))?;
    if !found.is_file() {
        bail!("failed to attach {shown}: it is no file");
    }
    if found.len() > limits::MAX_BLOB_BYTES {
        let most = limits::MAX_BLOB_BYTES / 1024 / 1024;
        bail!("failed to attach {shown}: it has more than {most} MiB");
    }
    let file = File::open(path).with_context(|| format!("failed to attach {shown}"))?;
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.with_context(|| format!("failed to attach {shown}: its name is no text"))?;
    Ok(Open {
        file,
        name: name.to_owned(),
        size: found.len(),
    })
}

/// Sends all of them. Gives their ids.
pub(super) async fn send_all(
    session: &mut Session,
    files: Vec<Open>,
) -> anyhow::Result<Vec<FileId>> {
    let mut ids = Vec::with_capacity(files.len());
    for file in files {
        let name = file.name.clone();
        let sent = send(session, file).await;
        ids.push(sent.with_context(|| format!("failed to attach {name}"))?);
    }
    Ok(ids)
}

async fn send(session: &mut Session, mut open: Open) -> anyhow::Result<FileId> {
    let blob = BlobId::parse(&uuid::Uuid::now_v7().to_string())?;
    let workspace = session.spot.workspace.clone();
    let conversation = session.spot.conversation.clone();
    let kind = mime_type(&open.name).to_owned();
    let start = BlobStart::new(
        workspace,
        conversation.clone(),
        blob.clone(),
        open.name.clone(),
        kind,
        open.size,
    );
    // Nothing is shown yet, so nothing is missed.
    let mut missed = Vec::new();
    session.ask_surely(start, &mut missed).await?;
    let mut sum = Sum::new(&SHA256);
    let (mut left, mut index) = (open.size, 0);
    while left > 0 {
        let length = left.min(limits::MAX_BLOB_CHUNK_BYTES);
        let mut bytes = vec![0; usize::try_from(length)?];
        let read = open.file.read_exact(&mut bytes);
        read.context("the file became shorter meanwhile")?;
        sum.update(&bytes);
        let data = BASE64.encode(&bytes);
        let chunk = BlobChunk::new(conversation.clone(), blob.clone(), index, data);
        session.ask_surely(chunk, &mut missed).await?;
        left -= length;
        index += 1;
    }
    let sum = format!("sha256:{}", HEXLOWER.encode(sum.finish().as_ref()));
    let end = BlobEnd::new(conversation, blob, sum);
    let kept = session.ask_surely(end, &mut missed).await?;
    kept.file_id.context("the machine gave the file no id")
}

/// By the ending of the name; the agent looks for itself.
fn mime_type(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        "txt" | "md" | "log" | "csv" => "text/plain",
        "json" => "application/json",
        _ => "application/octet-stream",
    }
}
