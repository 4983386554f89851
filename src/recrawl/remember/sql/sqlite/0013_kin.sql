-- Who is kin of whom: when the one is seen to change, the other may have changed too.
CREATE TABLE kin (
    resource_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
    of_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,  -- the one that tells
    weight REAL NOT NULL,
    PRIMARY KEY (resource_id, of_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX kin_of ON kin (of_id);
