-- Visits that were made elsewhere come in late: a resource's are in the order of their times, not of their ids.
DROP INDEX visit_resource;
CREATE INDEX visit_time ON visit (resource_id, at);
