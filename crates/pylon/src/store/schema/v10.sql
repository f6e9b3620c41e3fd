-- What was deleted or cleared here and has another half elsewhere: in the host, or among files. Written in the transaction
-- that takes it out of the lists, so that whoever comes next finishes it.
CREATE TABLE removals (
    -- Never used again, so that what an earlier pylon left is known from what this one does.
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    -- `conversation`, `workspace` or `history`.
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    -- Where the workspace was.
    folder TEXT,
    UNIQUE (kind, id)
) STRICT;
