-- The first format. Never edited: a change is a new migration.

-- A shelf holds the history of one conversation in one epoch. A conversation that is cleared or deleted, or whose log
-- begins anew, leaves its shelf behind at once; what stands on it is taken away later, in small steps.
CREATE TABLE shelves (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    is_discarded INTEGER NOT NULL DEFAULT 0 CHECK (is_discarded IN (0, 1))
) STRICT;
CREATE INDEX shelves_discarded ON shelves (key) WHERE is_discarded = 1;

CREATE TABLE workspaces (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    working_dir TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used INTEGER NOT NULL
) STRICT;

CREATE TABLE conversations (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    workspace INTEGER NOT NULL REFERENCES workspaces (key),
    name TEXT NOT NULL,
    skill_type TEXT NOT NULL,
    permission_mode TEXT,
    model TEXT,
    claude_session_id TEXT,
    created_at INTEGER NOT NULL,
    shelf INTEGER NOT NULL UNIQUE REFERENCES shelves (key),
    -- The cursor: the last event of the host that is taken into account.
    epoch INTEGER,
    seq INTEGER NOT NULL DEFAULT 0,
    chain_hash TEXT,
    -- The host begins at its first event again; until then the entries of the old log are shown.
    awaits_start INTEGER NOT NULL DEFAULT 0 CHECK (awaits_start IN (0, 1)),
    -- What is folded from the events up to the cursor.
    entries INTEGER NOT NULL DEFAULT 0,
    status TEXT NOT NULL DEFAULT 'idle',
    updated_at INTEGER NOT NULL,
    seen_model TEXT,
    notable INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX conversations_by_workspace ON conversations (workspace, key);

-- The id of an entry is its shelf and its place on it: `shelf << 40 | ordinal`. A page is a range of ids.
CREATE TABLE history (
    id INTEGER PRIMARY KEY,
    shelf INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    doc INTEGER,
    body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX history_by_seq ON history (shelf, epoch, seq);

-- The whole input and output of calls; a part that its entry shows whole is not kept twice.
CREATE TABLE tool_calls (
    key INTEGER PRIMARY KEY,
    shelf INTEGER NOT NULL,
    tool_use_id TEXT NOT NULL,
    started INTEGER,
    completed INTEGER,
    input TEXT,
    output TEXT,
    UNIQUE (shelf, tool_use_id)
) STRICT;

-- Documents are numbered in the order of their arrival over all conversations, so that the newest hits come first.
CREATE TABLE docs (
    doc INTEGER PRIMARY KEY,
    entry INTEGER NOT NULL
) STRICT;
CREATE VIRTUAL TABLE search USING fts5 (
    words, scope,
    content = '', contentless_delete = 1,
    tokenize = 'unicode61 remove_diacritics 2'
);

-- `is_settled`: the log this was counted from is gone for good, so that no replay will count it again.
CREATE TABLE usage (
    conversation_id TEXT NOT NULL,
    day TEXT NOT NULL,
    model TEXT NOT NULL,
    is_settled INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read_tokens INTEGER NOT NULL,
    cache_creation_tokens INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, day, model, is_settled)
) STRICT, WITHOUT ROWID;

CREATE TABLE claude_sessions (
    id TEXT PRIMARY KEY,
    conversation_id TEXT NOT NULL,
    first_seen INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a device has seen is told by marks: every notable event raises the mark of the pylon.
CREATE TABLE devices (
    id INTEGER PRIMARY KEY,
    baseline INTEGER NOT NULL,
    viewing INTEGER REFERENCES conversations (key) ON DELETE SET NULL
) STRICT;
CREATE INDEX devices_viewing ON devices (viewing) WHERE viewing IS NOT NULL;
CREATE TABLE seen (
    device INTEGER NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
    conversation INTEGER NOT NULL REFERENCES conversations (key) ON DELETE CASCADE,
    mark INTEGER NOT NULL,
    PRIMARY KEY (device, conversation)
) STRICT, WITHOUT ROWID;
CREATE INDEX seen_by_conversation ON seen (conversation);

CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE pylon (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    active_workspace INTEGER REFERENCES workspaces (key) ON DELETE SET NULL,
    active_conversation INTEGER REFERENCES conversations (key) ON DELETE SET NULL,
    mark INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO pylon (only) VALUES (1);
