//! Asks the store, and asks its database without the store.

use std::path::Path;
use std::time::{Duration, Instant};

use estelle_proto::{ConversationId, QueryText, Seq};
use estelle_pylon::store::{DATABASE, PageFrom, PageQuery, SearchQuery, Store};
use rusqlite::{Connection, OpenFlags, params};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::fill::NAMES;
use crate::{Outcome, quantiles, text};

/// Entries of a page.
const PAGE: u32 = 50;
/// Not counted: whatever happens the first time only.
const WARM_UP: usize = 20;

/// What was filled in.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Filled {
    long: ConversationId,
    short: ConversationId,
    entries: u64,
}

impl Filled {
    fn load(folder: &Path) -> Outcome<Self> {
        Ok(serde_json::from_slice(&std::fs::read(folder.join(NAMES))?)?)
    }
}

pub(crate) async fn ours(folder: &Path, times: usize) -> Outcome<Value> {
    let filled = Filled::load(folder)?;
    let begin = Instant::now();
    let store = Store::open(folder)?;
    page(&store, &filled.long, PageFrom::Newest { offset: 0 }).await?;
    let opening = begin.elapsed();
    let middle = filled.entries / 2;
    let mut run = json!({"open_ms": opening.as_secs_f64() * 1e3});
    let newest = PageFrom::Newest { offset: 0 };
    let deep = PageFrom::Newest { offset: middle };
    let cursor = PageFrom::Before(Seq(middle));
    for (name, id, from) in [
        ("short_newest", &filled.short, newest),
        ("newest", &filled.long, newest),
        ("cursor", &filled.long, cursor),
        ("offset", &filled.long, deep),
    ] {
        let mut taken = Vec::new();
        for _ in 0..times + WARM_UP {
            taken.push(page(&store, id, from).await?);
        }
        run[name] = quantiles(taken.split_off(WARM_UP));
    }
    let most = u32::try_from(text::RARE)?;
    for (name, words, hits) in [
        ("rare", "rarity", most),
        ("common", "common", PAGE),
        ("beginning", "commo", PAGE),
    ] {
        // The beginning of a common word is the one question whose cost grows with the hits.
        let times = if name == "beginning" {
            times / 10 + 1
        } else {
            times
        };
        let mut taken = Vec::new();
        for _ in 0..times + WARM_UP {
            taken.push(search(&store, words, hits).await?);
        }
        run[name] = quantiles(taken.split_off(WARM_UP));
    }
    store.close().await;
    Ok(run)
}

async fn page(store: &Store, id: &ConversationId, from: PageFrom) -> Outcome<Duration> {
    let query = PageQuery {
        conversation_id: id.clone(),
        workspace_id: None,
        limit: PAGE,
        from,
        epoch: None,
    };
    let begin = Instant::now();
    let page = store.page(query).await?;
    let taken = begin.elapsed();
    match page.messages.len() {
        50 => Ok(taken),
        other => Err(format!("a page has {other} entries").into()),
    }
}

async fn search(store: &Store, words: &str, hits: u32) -> Outcome<Duration> {
    let query = SearchQuery {
        limit: Some(hits),
        ..SearchQuery::new(QueryText::parse(words)?)
    };
    let begin = Instant::now();
    let page = store.search(query).await?;
    let taken = begin.elapsed();
    match u32::try_from(page.hits.len())? {
        found if found == hits => Ok(taken),
        found => Err(format!("{words:?} was found {found} times instead of {hits}").into()),
    }
}

pub(crate) fn plain(folder: &Path, times: usize) -> Outcome<Value> {
    let filled = Filled::load(folder)?;
    let begin = Instant::now();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(folder.join(DATABASE), flags)?;
    db.pragma_update(None, "cache_size", -8 * 1024)?;
    let shelf = |id: &ConversationId| {
        let sql = "SELECT shelf, entries FROM conversations WHERE id = ?1";
        db.query_row(sql, [id.as_str()], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
        })
    };
    let (long, short) = (shelf(&filled.long)?, shelf(&filled.short)?);
    let middle = i64::try_from(filled.entries / 2)?;
    bodies(&db, (long.0 << 40) | long.1)?;
    let mut run = json!({"open_ms": begin.elapsed().as_secs_f64() * 1e3});
    for (name, last) in [
        ("short_newest", (short.0 << 40) | short.1),
        ("newest", (long.0 << 40) | long.1),
        ("cursor", (long.0 << 40) | (middle - 1)),
    ] {
        let mut taken = Vec::new();
        for _ in 0..times + WARM_UP {
            taken.push(bodies(&db, last)?);
        }
        run[name] = quantiles(taken.split_off(WARM_UP));
    }
    for (name, words) in [("rare", "rarity"), ("common", "common")] {
        let mut taken = Vec::new();
        for _ in 0..times + WARM_UP {
            taken.push(found(&db, words)?);
        }
        run[name] = quantiles(taken.split_off(WARM_UP));
    }
    Ok(run)
}

fn texts(db: &Connection, sql: &str, values: impl rusqlite::Params) -> Outcome<Duration> {
    let begin = Instant::now();
    let mut find = db.prepare_cached(sql)?;
    let mut rows = find.query(values)?;
    let mut all: Vec<String> = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(row.get(0)?);
    }
    let taken = begin.elapsed();
    match all.len() {
        50 => Ok(taken),
        other => Err(format!("there are {other} rows").into()),
    }
}

fn bodies(db: &Connection, last: i64) -> Outcome<Duration> {
    let sql = "SELECT body FROM history WHERE id > ?1 AND id <= ?2 ORDER BY id DESC LIMIT ?3";
    texts(db, sql, params![last - i64::from(PAGE), last, PAGE])
}

fn found(db: &Connection, words: &str) -> Outcome<Duration> {
    let sql = "SELECT h.body FROM search CROSS JOIN docs d ON d.doc = search.rowid \
               CROSS JOIN history h ON h.id = d.entry \
               WHERE search MATCH ?1 ORDER BY search.rowid DESC LIMIT ?2";
    texts(db, sql, params![format!("words : \"{words}\""), PAGE])
}
