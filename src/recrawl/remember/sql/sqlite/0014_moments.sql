-- When each new thing that a visit found was said, where it tells: little-endian doubles. NULL: it does not tell.
ALTER TABLE visit ADD COLUMN moments BLOB;
