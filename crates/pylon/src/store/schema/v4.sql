-- The windows of the agent's plan, as the CLI last told them. Made anew by a replay, so a rebuild takes none over.
CREATE TABLE plan_limits (
    window TEXT PRIMARY KEY,
    told_at INTEGER NOT NULL,
    resets_at INTEGER,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
