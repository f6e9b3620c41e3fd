-- How the process of a conversation ended, until another one begins; and when somebody last came to look.
ALTER TABLE conversations ADD COLUMN ended TEXT;
ALTER TABLE conversations ADD COLUMN touched_at INTEGER;

-- What became of its processes, for those who come back and were not told. Histories show other things.
CREATE TABLE lifecycle (
    shelf INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (shelf, seq)
) STRICT, WITHOUT ROWID;
