-- Changes and failures of all resources by time: few among many visits.
CREATE INDEX visit_change ON visit (at, resource_id, significant) WHERE changed = 1;
CREATE INDEX visit_failure ON visit (at, resource_id) WHERE informative = 0;
