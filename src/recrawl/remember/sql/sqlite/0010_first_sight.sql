-- What a first visit showed of a resource, and what a model made of it.
CREATE TABLE sight (
    resource_id INTEGER PRIMARY KEY REFERENCES resource (id) ON DELETE CASCADE,
    at REAL NOT NULL,
    format INTEGER NOT NULL,  -- which features, and in what order
    features BLOB NOT NULL  -- float64, little-endian
) STRICT;

CREATE TABLE hunch (
    resource_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    at REAL NOT NULL,
    per_day REAL NOT NULL,
    gap_s REAL NOT NULL,
    PRIMARY KEY (resource_id, model)
) STRICT, WITHOUT ROWID;

-- Which watched resource links to which.
CREATE TABLE link (
    from_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
    to_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
    PRIMARY KEY (from_id, to_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX link_to ON link (to_id);

-- The newest hunch; NULL: none.
ALTER TABLE resource ADD COLUMN hunch_per_day REAL;
ALTER TABLE resource ADD COLUMN hunch_gap_s REAL;
-- How many links lead there from where a collection began, itself 1; NULL: it was not found by following links.
ALTER TABLE resource ADD COLUMN depth INTEGER;
