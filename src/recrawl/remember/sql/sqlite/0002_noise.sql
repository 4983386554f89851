-- What is known of a resource's differences that are no changes: a JSON object, NULL where nothing is.
ALTER TABLE resource ADD COLUMN noise TEXT;
