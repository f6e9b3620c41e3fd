-- What tasks may cost, from their begin: the cost of a conversation beyond `from_usd`. A task that was put back belongs to no
-- conversation until it is begun again, and `from_usd` is below zero by what was spent on it.
CREATE TABLE task_budgets (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace TEXT NOT NULL,
    file TEXT NOT NULL,
    task TEXT NOT NULL,
    conversation INTEGER REFERENCES conversations (key) ON DELETE CASCADE,
    from_usd REAL NOT NULL,
    soft_usd REAL,
    hard_usd REAL,
    told TEXT,
    UNIQUE (workspace, file)
) STRICT;
