-- Replay asks for the versions around a moment, of a resource that may have a hundred thousand.
CREATE INDEX version_time ON version (resource_id, at);
