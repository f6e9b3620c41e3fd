-- Worktrees of git, each named by the conversation it was made for, which it may outlive. A row is there before the folder
-- and goes after it.
CREATE TABLE worktrees (
    conversation TEXT PRIMARY KEY,
    workspace TEXT NOT NULL,
    repository TEXT NOT NULL,
    path TEXT NOT NULL UNIQUE,
    -- Where in it the agent works.
    folder TEXT NOT NULL,
    branch TEXT NOT NULL,
    base_branch TEXT,
    base TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
