//! Full-text search over all conversations: whole words before beginnings of words, the newest entries first.
//!
//! Documents are numbered in the order of their arrival, which is the order of the index: a page of hits costs the same
//! however many there are. Ranking would have to look at all of them. Where to search is part of the index, too, so one
//! conversation among thousands is not searched by looking at the others.

use estelle_proto::limits::MAX_SEARCH_HITS;
use estelle_proto::lookup::SearchHit;
use estelle_proto::{ConversationId, HistoryMessage, QueryText, Seq, WorkspaceId};
use rusqlite::{Connection, params};

use super::folded::Folded;
use super::row::{count, json, moment, parsed};
use super::words::{self, Grade, Scope};
use super::{Store, StoreError, entry, snippet, workspaces};

/// Hits of a page when the request does not say.
const DEFAULT_HITS: u32 = 20;

/// What to search for, and where.
#[derive(Debug, Clone)]
pub struct SearchQuery {
    /// The words; all must be there.
    pub query: QueryText,
    /// Only in this workspace.
    pub workspace_id: Option<WorkspaceId>,
    /// Only in this conversation.
    pub conversation_id: Option<ConversationId>,
    /// The most hits.
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

impl SearchQuery {
    /// These words, everywhere.
    pub fn new(query: QueryText) -> Self {
        Self {
            query,
            workspace_id: None,
            conversation_id: None,
            limit: None,
            cursor: None,
        }
    }
}

impl From<&estelle_proto::lookup::HistorySearch> for SearchQuery {
    fn from(request: &estelle_proto::lookup::HistorySearch) -> Self {
        Self {
            query: request.query.clone(),
            workspace_id: request.workspace_id.clone(),
            conversation_id: request.conversation_id.clone(),
            limit: request.limit,
            cursor: request.cursor.clone(),
        }
    }
}

/// Where the words were found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchPage {
    /// The hits: whole words first, then beginnings of words; the newest first among each.
    pub hits: Vec<SearchHit>,
    /// Where the next page begins; `None` at the end.
    pub next_cursor: Option<String>,
}

/// Why there was no search.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// There is no such workspace.
    #[error("there is no workspace {id}")]
    UnknownWorkspace {
        /// The id.
        id: WorkspaceId,
    },
    /// There is no such conversation.
    #[error("there is no conversation {id}")]
    UnknownConversation {
        /// The id.
        id: ConversationId,
    },
    /// The cursor was not made by an earlier page.
    #[error("the cursor is not one that was given")]
    BadCursor,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

super::error::takes_sqlite_errors!(SearchError);

impl Store {
    /// Searches the history of all conversations, one workspace or one conversation.
    pub async fn search(&self, query: SearchQuery) -> Result<SearchPage, SearchError> {
        self.read(move |db| search(db, &query)).await
    }
}

/// The index is asked first, whatever the planner thinks: it alone knows where the words are.
const FIND: &str = "SELECT d.doc, w.id, c.id, h.seq, h.at, h.body, EXISTS (SELECT 1 FROM rewinds r \
     WHERE r.shelf = h.shelf AND r.from_seq <= h.seq AND r.to_seq > h.seq) FROM search \
     CROSS JOIN docs d ON d.doc = search.rowid \
     CROSS JOIN history h ON h.id = d.entry \
     CROSS JOIN conversations c ON c.shelf = h.shelf \
     CROSS JOIN workspaces w ON w.key = c.workspace \
     WHERE search MATCH ?1 AND search.rowid < ?2 ORDER BY search.rowid DESC LIMIT ?3";

/// Where a page begins: among the hits of a grade, before a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    grade: Grade,
    before: i64,
}

impl Place {
    const START: Self = Self::start_of(Grade::Words);

    const fn start_of(grade: Grade) -> Self {
        let before = i64::MAX;
        Self { grade, before }
    }

    fn parse(cursor: &str) -> Option<Self> {
        let (grade, before) = match cursor.strip_prefix('w') {
            Some(rest) => (Grade::Words, rest),
            None => (Grade::Beginnings, cursor.strip_prefix('b')?),
        };
        let before = before.parse().ok()?;
        Some(Self { grade, before })
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let grade = match self.grade {
            Grade::Words => 'w',
            Grade::Beginnings => 'b',
        };
        write!(f, "{grade}{}", self.before)
    }
}

fn search(db: &Connection, query: &SearchQuery) -> Result<SearchPage, SearchError> {
    let mut place = match &query.cursor {
        Some(cursor) => Place::parse(cursor).ok_or(SearchError::BadCursor)?,
        None => Place::START,
    };
    let scope = scope(db, query)?;
    let limit = query
        .limit
        .unwrap_or(DEFAULT_HITS)
        .clamp(1, MAX_SEARCH_HITS);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut hits = Vec::new();
    loop {
        let next = gather(db, query, scope, place, limit, &mut hits)?;
        let next_cursor = next.map(|next| next.to_string());
        if next.is_some() || place.grade == Grade::Beginnings {
            return Ok(SearchPage { hits, next_cursor });
        }
        place = Place::start_of(Grade::Beginnings);
    }
}

/// Adds hits of one grade until there are enough. Gives the place to go on from, if there are more of this grade.
fn gather(
    db: &Connection,
    query: &SearchQuery,
    scope: Scope,
    place: Place,
    limit: usize,
    hits: &mut Vec<SearchHit>,
) -> rusqlite::Result<Option<Place>> {
    let text = query.query.as_str();
    let Some(sought) = words::query(text, scope, place.grade) else {
        return Ok(None);
    };
    let most = i64::try_from(limit - hits.len()).unwrap_or(i64::MAX) + 1;
    let mut find = db.prepare_cached(FIND)?;
    let mut rows = find.query(params![sought, place.before, most])?;
    let mut before = place.before;
    while let Some(row) = rows.next()? {
        if hits.len() >= limit {
            return Ok(Some(Place { before, ..place }));
        }
        before = row.get(0)?;
        let message: HistoryMessage = json(row, 5)?;
        let is_rewound: bool = row.get(6)?;
        hits.push(SearchHit {
            rewound: is_rewound.then_some(true),
            ..SearchHit::new(
                parsed(row, 1)?,
                parsed(row, 2)?,
                Seq(count(row, 3)?),
                snippet::around(&entry::text(&message), text),
                moment(row, 4)?,
            )
        });
    }
    Ok(None)
}

fn scope(db: &Connection, query: &SearchQuery) -> Result<Scope, SearchError> {
    let workspace = match &query.workspace_id {
        Some(id) => Some(
            workspaces::find_key(db, id)?
                .ok_or_else(|| SearchError::UnknownWorkspace { id: id.clone() })?,
        ),
        None => None,
    };
    let Some(id) = &query.conversation_id else {
        return Ok(workspace.map_or(Scope::Everywhere, Scope::Workspace));
    };
    match Folded::load(db, id)? {
        Some(found) if workspace.is_none_or(|key| key == found.workspace) => {
            Ok(Scope::Shelf(found.shelf))
        }
        Some(_) | None => Err(SearchError::UnknownConversation { id: id.clone() }),
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
