-- The words of versions, for features and for telling what is significant. Of each resource the newest are kept,
-- and some of the older ones.
CREATE TABLE bag (
    id INTEGER PRIMARY KEY,
    resource_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
    at REAL NOT NULL,  -- its version's; numbers may move up
    base INTEGER NOT NULL,  -- 1: later versions are held against it
    format INTEGER NOT NULL,  -- how words are told apart and numbered
    detector TEXT NOT NULL,  -- who read it, and through which lens
    packed BLOB NOT NULL  -- sorted numbers of words and their counts
) STRICT;
CREATE UNIQUE INDEX bag_time ON bag (resource_id, at);

-- What counts as a change: any, or significant ones.
ALTER TABLE layer ADD COLUMN changes TEXT;
ALTER TABLE resource ADD COLUMN changes TEXT NOT NULL DEFAULT 'any';
