-- What was taken back by rewinds. Stretches of a shelf are disjoint: a later rewind swallows those it goes behind.
CREATE TABLE rewinds (
    shelf INTEGER NOT NULL,
    from_seq INTEGER NOT NULL,
    to_seq INTEGER NOT NULL,
    PRIMARY KEY (shelf, from_seq)
) STRICT, WITHOUT ROWID;

-- Copies that the host was asked for and that no list shows yet. A pylon that dies in between finds them here.
CREATE TABLE forks (
    id TEXT PRIMARY KEY,
    workspace TEXT NOT NULL,
    name TEXT NOT NULL,
    skill_type TEXT NOT NULL,
    permission_mode TEXT,
    model TEXT,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
