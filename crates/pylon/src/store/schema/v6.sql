-- Conversations that go on by themselves when the plan allows it again. With `message_id` and `at` one waits for that: the
-- message goes out under this id, which the host runs once however often it is sent.
CREATE TABLE continuations (
    conversation INTEGER PRIMARY KEY REFERENCES conversations (key) ON DELETE CASCADE,
    is_enabled INTEGER NOT NULL CHECK (is_enabled IN (0, 1)),
    message_id TEXT,
    at INTEGER,
    failure TEXT
) STRICT;
CREATE INDEX continuations_due ON continuations (at) WHERE message_id IS NOT NULL;
