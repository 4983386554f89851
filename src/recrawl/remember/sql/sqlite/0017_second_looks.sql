-- What a second look weighed, where there was one: it is charged like a visit. NULL: there was none, or it was made
-- before anybody counted them.
ALTER TABLE visit ADD COLUMN second_bytes INTEGER;
CREATE INDEX visit_second ON visit (at) WHERE second_bytes IS NOT NULL;
ALTER TABLE total ADD COLUMN n_second INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER second_look_comes AFTER INSERT ON visit WHEN new.second_bytes IS NOT NULL BEGIN
    UPDATE total SET n_second = n_second + 1;
END;
CREATE TRIGGER second_look_goes AFTER DELETE ON visit WHEN old.second_bytes IS NOT NULL BEGIN
    UPDATE total SET n_second = n_second - 1;
END;
