-- Changes and failures of all resources by time: few among many visits. What chooses them stands in them too, so that
-- they are read without the visits themselves.
CREATE INDEX visit_change ON visit (at, resource_id, significant, changed) WHERE changed = 1;
CREATE INDEX visit_failure ON visit (at, resource_id, informative) WHERE informative = 0;
