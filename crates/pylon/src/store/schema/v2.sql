-- A paired device has a number of its own, above those of connections, and keeps it over every reconnect.
CREATE TABLE paired (
    key TEXT PRIMARY KEY,
    device INTEGER NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;
