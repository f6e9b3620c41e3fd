-- Ways to devices. Each device has settings, which outlive its subscriptions.
CREATE TABLE push_subscriptions (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    device INTEGER NOT NULL,
    endpoint TEXT NOT NULL UNIQUE,
    p256dh BLOB NOT NULL,
    auth BLOB NOT NULL,
    made_at INTEGER NOT NULL,
    delivered_at INTEGER,
    failed_at INTEGER,
    error TEXT
) STRICT;
CREATE TABLE notify_settings (
    device INTEGER PRIMARY KEY,
    is_muted INTEGER NOT NULL DEFAULT 0 CHECK (is_muted IN (0, 1)),
    quiet TEXT
) STRICT;
CREATE TABLE notify_muted (
    device INTEGER NOT NULL,
    conversation INTEGER NOT NULL REFERENCES conversations (key) ON DELETE CASCADE,
    PRIMARY KEY (device, conversation)
) STRICT, WITHOUT ROWID;
CREATE INDEX notify_muted_by_conversation ON notify_muted (conversation);

-- What people are told of. First it is only known (`is_fanned` = 0), then there is a delivery for each who is told.
CREATE TABLE notices (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER REFERENCES conversations (key) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    tool_use_id TEXT,
    is_watched INTEGER NOT NULL CHECK (is_watched IN (0, 1)),
    only_for INTEGER,
    at INTEGER NOT NULL,
    is_fanned INTEGER NOT NULL DEFAULT 0 CHECK (is_fanned IN (0, 1))
) STRICT;
CREATE INDEX notices_by_conversation ON notices (conversation);
CREATE INDEX notices_known ON notices (key) WHERE is_fanned = 0;

-- No subscription is the webhook. No `next_at` is given up; such rows are kept for people to see.
CREATE TABLE deliveries (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    notice INTEGER NOT NULL REFERENCES notices (key) ON DELETE CASCADE,
    subscription INTEGER REFERENCES push_subscriptions (key) ON DELETE CASCADE,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER,
    failed_at INTEGER,
    error TEXT
) STRICT;
CREATE INDEX deliveries_by_notice ON deliveries (notice);
CREATE INDEX deliveries_by_subscription ON deliveries (subscription);
CREATE INDEX deliveries_due ON deliveries (next_at) WHERE next_at IS NOT NULL;

-- The last event of each log that was noted, so that a replay notes nothing again.
CREATE TABLE noted (
    conversation INTEGER PRIMARY KEY REFERENCES conversations (key) ON DELETE CASCADE,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL
) STRICT;
