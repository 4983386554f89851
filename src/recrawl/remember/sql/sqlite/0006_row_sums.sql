-- What the rows of a table add up to; the triggers that keep it are made by the code, for the columns there are.
CREATE TABLE row_sum (
    name TEXT PRIMARY KEY,  -- the table's
    format INTEGER NOT NULL,  -- of the store when the triggers were made
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
