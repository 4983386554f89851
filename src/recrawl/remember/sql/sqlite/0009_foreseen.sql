-- What the plan that led to a visit had forecast: the chance of a change by then, and changes a day until then.
-- NULL: there was no forecast, or the visit is older than this column.
ALTER TABLE visit ADD COLUMN p_changed REAL;
ALTER TABLE visit ADD COLUMN per_day REAL;
