//! What the pylon remembers, in one SQLite database.
