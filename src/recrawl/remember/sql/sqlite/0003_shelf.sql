-- Where the answer came from: two versions with the same payload share one record, and that has one URL.
-- Empty: what the record says.
ALTER TABLE version ADD COLUMN answer_url TEXT NOT NULL DEFAULT '';
-- A quarter of the digest's 64 characters tells millions of payloads apart, and the row is asked as well.
CREATE INDEX version_digest ON version (substr(digest, 8, 16)) WHERE n_bytes >= 512 AND flag = '' AND file <> '';

-- The address of a file that was carried away; empty: it is in the archive's folder.
ALTER TABLE archive_file ADD COLUMN address TEXT NOT NULL DEFAULT '';
