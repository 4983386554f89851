-- Files that are to be deleted for good, whoever comes next.
CREATE TABLE doomed_file (
    name TEXT PRIMARY KEY,
    address TEXT NOT NULL DEFAULT ''  -- where it was carried to
) STRICT, WITHOUT ROWID;

CREATE TABLE erasure (
    url TEXT PRIMARY KEY,
    at REAL NOT NULL,
    why TEXT NOT NULL,
    done INTEGER NOT NULL DEFAULT 0,
    n_versions INTEGER NOT NULL DEFAULT 0,
    n_records INTEGER NOT NULL DEFAULT 0,
    n_bytes INTEGER NOT NULL DEFAULT 0,
    shared TEXT NOT NULL DEFAULT '[]'  -- a JSON array of URLs
) STRICT, WITHOUT ROWID;

CREATE INDEX version_place ON version (file, offset);

CREATE TRIGGER version_flagged AFTER UPDATE OF flag ON version BEGIN
    UPDATE total SET n_versions = n_versions + (new.flag = '') - (old.flag = '');
END;
