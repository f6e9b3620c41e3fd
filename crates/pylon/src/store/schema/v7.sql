-- What conversations and days may cost. No conversation is the day. `told` says which passing of a line people know of.
CREATE TABLE budgets (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER UNIQUE REFERENCES conversations (key) ON DELETE CASCADE,
    soft_usd REAL,
    hard_usd REAL,
    told TEXT
) STRICT;
CREATE UNIQUE INDEX budgets_day ON budgets (coalesce(conversation, 0)) WHERE conversation IS NULL;
