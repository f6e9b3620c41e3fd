-- What the plan refused to a conversation: until when, as its own process said, and the turn that failed of it, unless
-- something followed it.
CREATE TABLE refusals (
    conversation INTEGER PRIMARY KEY REFERENCES conversations (key) ON DELETE CASCADE,
    resets_at INTEGER,
    epoch INTEGER,
    seq INTEGER,
    failed_at INTEGER
) STRICT;

-- A decision that was asked long ago is held until it is known whether it still waits.
ALTER TABLE notices ADD COLUMN is_held INTEGER NOT NULL DEFAULT 0 CHECK (is_held IN (0, 1));
