-- What visits told of other resources: of each the first since its last informative visit. Kept after the next
-- one: whoever learns anew from all visits wants to know which of them were told of.
CREATE TABLE signal (
    resource_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,  -- told of
    at REAL NOT NULL,  -- when it was heard
    source_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,  -- who told
    event_at REAL,
    pending INTEGER NOT NULL DEFAULT 1,  -- no informative visit came after it yet
    PRIMARY KEY (resource_id, at)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX signal_pending ON signal (resource_id) WHERE pending = 1;
CREATE INDEX signal_source ON signal (source_id, at);
