-- Instants are seconds since 1970-01-01 UTC. NULL in a REAL column that is no setting means NaN: not known.

CREATE TABLE host (
    id INTEGER PRIMARY KEY,  -- rows stay for ever: the token and the gate must outlive the host's resources
    name TEXT NOT NULL UNIQUE,
    token INTEGER NOT NULL DEFAULT 0,
    gate_at REAL NOT NULL DEFAULT (-9e999),  -- left alone until then
    lease_until_at REAL NOT NULL DEFAULT (-9e999),
    lease_by TEXT NOT NULL DEFAULT '',  -- the process that has or had it
    rest_s REAL,  -- how long it was left alone after the last visit; NULL: never visited
    n_failures INTEGER NOT NULL DEFAULT 0,  -- in a row: how often the host itself was in trouble
    due_at REAL,  -- of its first unpaused resource in turn; NULL: none
    next_id INTEGER,
    ready_at REAL GENERATED ALWAYS AS (max(gate_at, lease_until_at, due_at)) VIRTUAL,
    -- 1 once a claim has seen it ready. Those in line are in order of due_at alone, so that a claim reads as
    -- many hosts as it takes, however many more are ready and however many are gated.
    in_line INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX host_ready ON host (in_line, ready_at);
CREATE INDEX host_turn ON host (due_at, next_id) WHERE in_line = 1;

-- What was said, layer by layer; NULL: not said here.
CREATE TABLE layer (
    scope TEXT NOT NULL,
    name TEXT NOT NULL,  -- the URL, the tag, the host's name; empty for the global layer
    kind TEXT,
    weight REAL,
    min_gap_s REAL,
    max_gap_s REAL,
    paused INTEGER,
    allow_private INTEGER,
    manner TEXT,  -- a JSON object of what is said, by name
    PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE resource (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice: leases and archives outlive a removal
    url TEXT NOT NULL UNIQUE,
    host_id INTEGER NOT NULL REFERENCES host (id),
    added_at REAL NOT NULL,
    -- what holds after all layers have been asked
    kind TEXT NOT NULL DEFAULT '',
    weight REAL NOT NULL DEFAULT 0,
    min_gap_s REAL NOT NULL DEFAULT 0,
    max_gap_s REAL NOT NULL DEFAULT 0,
    paused INTEGER NOT NULL DEFAULT 0,
    allow_private INTEGER NOT NULL DEFAULT 0,
    manner TEXT NOT NULL DEFAULT '{}',
    -- where it stands
    since_at REAL,
    last_at REAL,
    gap_s REAL,
    due_at REAL,
    n_informative INTEGER NOT NULL DEFAULT 0,
    n_changes INTEGER NOT NULL DEFAULT 0,
    n_failures INTEGER NOT NULL DEFAULT 0,
    bits INTEGER NOT NULL DEFAULT 0,  -- 64 bits, read as signed
    etag TEXT,
    last_modified TEXT,
    memory BLOB,  -- float64, little-endian
    moved_to TEXT,
    moved_since_at REAL,
    last_seq INTEGER NOT NULL DEFAULT 0,  -- of its versions, flagged ones too
    version_seq INTEGER,  -- the newest that is part of its history
    -- why it is due then
    plan_gap_s REAL,
    price REAL,
    p_changed REAL,
    per_day REAL,
    rule TEXT NOT NULL DEFAULT '',
    bound TEXT NOT NULL DEFAULT '',
    planned_at REAL
) STRICT;
CREATE INDEX resource_host ON resource (host_id);
CREATE INDEX resource_moved ON resource (id) WHERE moved_to IS NOT NULL;
CREATE INDEX resource_due ON resource (host_id, due_at) WHERE paused = 0 AND due_at IS NOT NULL;

CREATE TABLE resource_tag (
    resource_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (resource_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_resource ON resource_tag (tag, resource_id);

CREATE TABLE visit (
    id INTEGER PRIMARY KEY,
    fetch_id TEXT NOT NULL UNIQUE,
    resource_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
    at REAL NOT NULL,
    since_at REAL,
    due_at REAL,
    outcome TEXT NOT NULL,
    informative INTEGER NOT NULL,
    status INTEGER,
    changed INTEGER NOT NULL,
    significant INTEGER,
    magnitude REAL,
    event_at REAL,
    duration_s REAL,
    n_bytes INTEGER NOT NULL,
    evidence TEXT NOT NULL,
    moved_to TEXT
) STRICT;
CREATE INDEX visit_resource ON visit (resource_id);
CREATE INDEX visit_at ON visit (at);

CREATE TABLE version (
    id INTEGER PRIMARY KEY,
    resource_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    at REAL NOT NULL,
    digest TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    detector TEXT NOT NULL,
    media_type TEXT NOT NULL,
    charset TEXT,
    status INTEGER,
    n_bytes INTEGER NOT NULL,
    gone INTEGER NOT NULL,
    flag TEXT NOT NULL,
    file TEXT NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    UNIQUE (resource_id, seq)
) STRICT;

CREATE TABLE archive_file (
    name TEXT PRIMARY KEY,
    length INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE fact (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Totals kept as rows come and go: counting millions of visits would take seconds.
CREATE TABLE total (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    n_visits INTEGER NOT NULL DEFAULT 0,
    n_changes INTEGER NOT NULL DEFAULT 0,
    n_failures INTEGER NOT NULL DEFAULT 0,
    n_versions INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO total (only_row) VALUES (1);

CREATE TRIGGER visit_comes AFTER INSERT ON visit BEGIN
    UPDATE total SET
        n_visits = n_visits + 1,
        n_changes = n_changes + (new.changed = 1),
        n_failures = n_failures + (new.informative = 0);
END;
CREATE TRIGGER visit_goes AFTER DELETE ON visit BEGIN
    UPDATE total SET
        n_visits = n_visits - 1,
        n_changes = n_changes - (old.changed = 1),
        n_failures = n_failures - (old.informative = 0);
END;
CREATE TRIGGER version_comes AFTER INSERT ON version BEGIN
    UPDATE total SET n_versions = n_versions + (new.flag = '');
END;
CREATE TRIGGER version_goes AFTER DELETE ON version BEGIN
    UPDATE total SET n_versions = n_versions - (old.flag = '');
END;
