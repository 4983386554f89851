-- The highest number of a visit that is no more. No number is given out twice: whoever goes through the visits in the
-- order of recording would take a new one for one that it knows, and never tell of it.
ALTER TABLE total ADD COLUMN last_gone INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER visit_number_stays AFTER DELETE ON visit BEGIN
    UPDATE total SET last_gone = max(last_gone, old.id);
END;
