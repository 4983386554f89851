-- Every statement the store runs, by name. `:ids` and `:host_ids` are JSON arrays.

-- name: incoming_table
CREATE TEMP TABLE incoming (
    pos INTEGER PRIMARY KEY,
    url TEXT,
    host TEXT,
    kind TEXT,
    weight REAL,
    min_gap_s REAL,
    max_gap_s REAL,
    paused INTEGER,
    allow_private INTEGER,
    manner TEXT,
    changes TEXT,
    depth INTEGER,
    changefreq TEXT,
    lastmod_at REAL
);

-- name: incoming_tag_table
CREATE TEMP TABLE incoming_tag (url TEXT, tag TEXT);

-- name: tag_layer_view
CREATE TEMP VIEW tag_layer AS
SELECT t.resource_id AS id, l.*
FROM resource_tag AS t JOIN layer AS l ON l.scope = 'tag' AND l.name = t.tag;

-- name: receive
INSERT INTO incoming (
    url, host, kind, weight, min_gap_s, max_gap_s, paused, allow_private, manner, changes, depth, changefreq,
    lastmod_at
)
VALUES (
    :url, :host, :kind, :weight, :min_gap_s, :max_gap_s, :paused, :allow_private, :manner, :changes, :depth,
    :changefreq, :lastmod_at
);

-- name: receive_tag
INSERT INTO incoming_tag (url, tag) VALUES (?, ?);

-- name: add_hosts
INSERT INTO host (name)
SELECT host FROM incoming GROUP BY host ORDER BY min(pos)
ON CONFLICT DO NOTHING;

-- name: last_id
SELECT coalesce(max(id), 0) FROM resource;

-- name: add_resources
INSERT INTO resource (url, host_id, added_at, due_at, rule, planned_at, depth, changefreq, lastmod_at)
SELECT i.url, h.id, :now, :now, 'first-look', :now, i.depth, i.changefreq, i.lastmod_at
FROM incoming AS i JOIN host AS h ON h.name = i.host
WHERE NOT EXISTS (SELECT 1 FROM resource AS r WHERE r.url = i.url)
ORDER BY i.pos;

-- name: deepen
-- Of those known before: a shorter way there was found, or the first.
UPDATE resource SET depth = i.depth FROM incoming AS i
WHERE i.depth IS NOT NULL AND i.url = resource.url AND i.depth < coalesce(resource.depth, 9e999);

-- name: hint
-- Of those known before, and not looked at closely yet: the newest word of a sitemap.
UPDATE resource SET changefreq = coalesce(i.changefreq, resource.changefreq),
    lastmod_at = coalesce(i.lastmod_at, resource.lastmod_at)
FROM incoming AS i
WHERE coalesce(i.changefreq, i.lastmod_at) IS NOT NULL AND i.url = resource.url
    AND NOT EXISTS (SELECT 1 FROM sight AS s WHERE s.resource_id = resource.id);

-- name: add_layers
INSERT INTO layer (scope, name, kind, weight, min_gap_s, max_gap_s, paused, allow_private, manner, changes)
SELECT 'resource', i.url, i.kind, i.weight, i.min_gap_s, i.max_gap_s, i.paused, i.allow_private, i.manner, i.changes
FROM incoming AS i JOIN resource AS r ON r.url = i.url
WHERE r.id > :last_id
    AND coalesce(i.kind, i.weight, i.min_gap_s, i.max_gap_s, i.paused, i.allow_private, i.manner, i.changes)
        IS NOT NULL;

-- name: add_tags
INSERT INTO resource_tag (resource_id, tag)
SELECT r.id, t.tag FROM incoming_tag AS t JOIN resource AS r ON r.url = t.url
WHERE true
ON CONFLICT DO NOTHING;

-- name: added_or_tagged
SELECT r.id FROM resource AS r WHERE r.id > :last_id
UNION
SELECT r.id FROM incoming_tag AS t JOIN resource AS r ON r.url = t.url;

-- name: forget_incoming
DELETE FROM incoming;

-- name: forget_incoming_tags
DELETE FROM incoming_tag;

-- name: remove_layers
DELETE FROM layer WHERE scope = 'resource' AND name IN (
    SELECT r.url FROM json_each(:ids) AS j JOIN resource AS r ON r.id = j.value
);

-- name: remove
DELETE FROM resource WHERE id IN (SELECT value FROM json_each(:ids));

-- name: id_of_url
SELECT id FROM resource WHERE url = :url;

-- name: ids_all
SELECT id FROM resource;

-- name: ids_of_host
SELECT r.id FROM resource AS r JOIN host AS h ON h.id = r.host_id WHERE h.name = :name;

-- name: ids_of_tag
SELECT resource_id FROM resource_tag WHERE tag = :name;

-- name: ids_of_text
SELECT id FROM resource WHERE instr(lower(url), lower(:text)) > 0;

-- name: hosts_of
SELECT DISTINCT r.host_id FROM json_each(:ids) AS j JOIN resource AS r ON r.id = j.value;

-- name: page
SELECT id FROM resource
WHERE id > :after AND (:text IS NULL OR instr(lower(url), lower(:text)) > 0)
ORDER BY id LIMIT :limit;

-- name: page_of_host
SELECT id FROM resource
WHERE host_id = (SELECT id FROM host WHERE name = :host)
    AND id > :after AND (:text IS NULL OR instr(lower(url), lower(:text)) > 0)
ORDER BY id LIMIT :limit;

-- name: page_of_tag
SELECT t.resource_id FROM resource_tag AS t CROSS JOIN resource AS r ON r.id = t.resource_id
WHERE t.tag = :tag AND t.resource_id > :after
    AND (:host IS NULL OR r.host_id = (SELECT id FROM host WHERE name = :host))
    AND (:text IS NULL OR instr(lower(r.url), lower(:text)) > 0)
ORDER BY t.resource_id LIMIT :limit;

-- name: tags
SELECT tag, count(*) FROM resource_tag GROUP BY tag ORDER BY tag;

-- name: page_of_moved
-- Where a visit was under way during a move, it may still say that the resource moved to where it now is.
SELECT id FROM resource
WHERE moved_to IS NOT NULL AND moved_to <> url AND moved_since_at < since_at AND id > :after
ORDER BY id LIMIT :limit;

-- name: add_host
INSERT INTO host (name) VALUES (:host) ON CONFLICT DO NOTHING;

-- name: move_layer
UPDATE layer SET name = :url
WHERE scope = 'resource' AND name = (SELECT url FROM resource WHERE id = :id);

-- name: move
UPDATE resource SET
    url = :url,
    host_id = (SELECT id FROM host WHERE name = :host),
    moved_to = NULL,
    moved_since_at = NULL
WHERE id = :id;

-- name: watched
SELECT
    r.*,
    h.name AS host,
    (SELECT json_group_array(t.tag) FROM resource_tag AS t WHERE t.resource_id = r.id) AS tags,
    own.kind AS said_kind,
    own.weight AS said_weight,
    own.min_gap_s AS said_min_gap_s,
    own.max_gap_s AS said_max_gap_s,
    own.paused AS said_paused,
    own.allow_private AS said_allow_private,
    own.manner AS said_manner,
    own.changes AS said_changes,
    v.seq, v.at, v.digest, v.fingerprint, v.detector, v.media_type, v.charset, v.status,
    v.n_bytes, v.gone, v.flag, v.answer_url, v.file, v.offset, v.length,
    s.at AS told_at,
    s.source_id AS told_by,
    g.at AS sight_at
FROM json_each(:ids) AS j
JOIN resource AS r ON r.id = j.value
JOIN host AS h ON h.id = r.host_id
LEFT JOIN layer AS own ON own.scope = 'resource' AND own.name = r.url
LEFT JOIN version AS v ON v.resource_id = r.id AND v.seq = r.version_seq
LEFT JOIN signal AS s ON s.resource_id = r.id AND s.pending = 1
LEFT JOIN sight AS g ON g.resource_id = r.id AND g.format = :format
ORDER BY j.id;

-- name: layer
SELECT * FROM layer WHERE scope = :scope AND name = :name;

-- name: put_layer
INSERT INTO layer (scope, name, kind, weight, min_gap_s, max_gap_s, paused, allow_private, manner, changes)
VALUES (:scope, :name, :kind, :weight, :min_gap_s, :max_gap_s, :paused, :allow_private, :manner, :changes)
ON CONFLICT DO UPDATE SET
    kind = excluded.kind,
    weight = excluded.weight,
    min_gap_s = excluded.min_gap_s,
    max_gap_s = excluded.max_gap_s,
    paused = excluded.paused,
    allow_private = excluded.allow_private,
    manner = excluded.manner,
    changes = excluded.changes;

-- name: own_layers
SELECT r.id AS resource_id, r.url AS resource_url, l.*
FROM json_each(:ids) AS j JOIN resource AS r ON r.id = j.value
LEFT JOIN layer AS l ON l.scope = 'resource' AND l.name = r.url;

-- name: drop_layer
DELETE FROM layer WHERE scope = :scope AND name = :name;

-- name: layers
SELECT * FROM layer WHERE scope = :scope ORDER BY name;

-- name: tag
INSERT INTO resource_tag (resource_id, tag)
SELECT r.id, t.value
FROM json_each(:ids) AS j JOIN resource AS r ON r.id = j.value CROSS JOIN json_each(:tags) AS t
WHERE true
ON CONFLICT DO NOTHING;

-- name: untag
DELETE FROM resource_tag
WHERE resource_id IN (SELECT value FROM json_each(:ids)) AND tag IN (SELECT value FROM json_each(:tags));

-- name: settle
-- The same rule as model.settled: the nearest layer that says something wins, setting by setting, and a smallest
-- gap that is no more than the default follows a largest one that is said nearer.
UPDATE resource SET
    kind = s.kind,
    weight = s.weight,
    min_gap_s = coalesce(s.near_min_gap_s, min(s.min_gap_s, s.near_max_gap_s), s.min_gap_s),
    max_gap_s = max(
        coalesce(s.near_min_gap_s, min(s.min_gap_s, s.near_max_gap_s), s.min_gap_s),
        coalesce(s.near_max_gap_s, s.max_gap_s)
    ),
    paused = s.paused,
    allow_private = s.allow_private,
    manner = s.manner,
    changes = s.changes
FROM (
    SELECT
        r.id,
        coalesce(
            own.kind,
            (SELECT kind FROM tag_layer WHERE id = r.id AND kind IS NOT NULL ORDER BY name LIMIT 1),
            site.kind, every.kind, :kind
        ) AS kind,
        coalesce(
            own.weight,
            (SELECT weight FROM tag_layer WHERE id = r.id AND weight IS NOT NULL ORDER BY name LIMIT 1),
            site.weight, every.weight, :weight
        ) AS weight,
        coalesce(
            own.min_gap_s,
            (SELECT min_gap_s FROM tag_layer WHERE id = r.id AND min_gap_s IS NOT NULL ORDER BY name LIMIT 1),
            site.min_gap_s
        ) AS near_min_gap_s,
        coalesce(every.min_gap_s, :min_gap_s) AS min_gap_s,
        coalesce(
            own.max_gap_s,
            (SELECT max_gap_s FROM tag_layer WHERE id = r.id AND max_gap_s IS NOT NULL ORDER BY name LIMIT 1),
            site.max_gap_s
        ) AS near_max_gap_s,
        coalesce(every.max_gap_s, :max_gap_s) AS max_gap_s,
        coalesce(
            own.paused,
            (SELECT paused FROM tag_layer WHERE id = r.id AND paused IS NOT NULL ORDER BY name LIMIT 1),
            site.paused, every.paused, :paused
        ) AS paused,
        coalesce(
            own.allow_private,
            (SELECT allow_private FROM tag_layer WHERE id = r.id AND allow_private IS NOT NULL ORDER BY name LIMIT 1),
            site.allow_private, every.allow_private, :allow_private
        ) AS allow_private,
        coalesce(
            own.changes,
            (SELECT changes FROM tag_layer WHERE id = r.id AND changes IS NOT NULL ORDER BY name LIMIT 1),
            site.changes, every.changes, :changes
        ) AS changes,
        json_patch(
            json_patch(coalesce(every.manner, '{}'), coalesce(site.manner, '{}')),
            json_patch(
                (
                    SELECT json_group_object(key, json(said)) FROM (
                        -- with min(), the other columns are those of the first tag that says this
                        SELECT e.key, t.manner -> e.key AS said, min(t.name)
                        FROM tag_layer AS t JOIN json_each(t.manner) AS e
                        WHERE t.id = r.id
                        GROUP BY e.key
                    )
                ),
                coalesce(own.manner, '{}')
            )
        ) AS manner
    FROM json_each(:ids) AS j
    JOIN resource AS r ON r.id = j.value
    JOIN host AS h ON h.id = r.host_id
    LEFT JOIN layer AS own ON own.scope = 'resource' AND own.name = r.url
    LEFT JOIN layer AS site ON site.scope = 'host' AND site.name = h.name
    LEFT JOIN layer AS every ON every.scope = 'global' AND every.name = ''
) AS s
WHERE resource.id = s.id;

-- name: bring_inside
-- A plan outside its resource's gap bounds moves to the bound. One that waits out a failure stays: it
-- answers the host's trouble, not the gap; and so does one that a person asked for.
UPDATE resource SET
    bound = iif(due_at < since_at + min_gap_s, 'min', 'max'),
    gap_s = iif(due_at < since_at + min_gap_s, min_gap_s, max_gap_s),
    plan_gap_s = iif(due_at < since_at + min_gap_s, min_gap_s, max_gap_s),
    due_at = since_at + iif(due_at < since_at + min_gap_s, min_gap_s, max_gap_s),
    p_changed = NULL,  -- it was that of another gap
    planned_at = :now
WHERE id IN (SELECT value FROM json_each(:ids))
    AND n_failures = 0 AND rule <> 'asked'
    AND (due_at < since_at + min_gap_s OR due_at > since_at + max_gap_s);

-- name: take_turns
-- Each host's first resource in turn, looked up again after anything that may have changed it.
UPDATE host SET (due_at, next_id) = (
    SELECT r.due_at, r.id FROM resource AS r
    WHERE r.host_id = host.id AND r.paused = 0 AND r.due_at IS NOT NULL
    ORDER BY r.due_at, r.id LIMIT 1
)
WHERE id IN (SELECT value FROM json_each(:host_ids));

-- name: line_up
UPDATE host SET in_line = 1 WHERE in_line = 0 AND ready_at <= :now;

-- name: next_in_line
-- Gate and lease are asked once more: another process's clock may have been ahead of ours.
-- Left to itself, the planner would sort all that are in line.
SELECT id, next_id FROM host INDEXED BY host_turn
WHERE in_line = 1 AND due_at <= :now AND gate_at <= :now AND lease_until_at <= :now
ORDER BY due_at, next_id LIMIT :limit;

-- name: only
SELECT h.id, r.id AS next_id FROM resource AS r JOIN host AS h ON h.id = r.host_id
WHERE r.id = :only AND h.gate_at <= :now AND h.lease_until_at <= :now;

-- name: lease
UPDATE host SET token = token + 1, lease_until_at = :until_at, lease_by = :by, in_line = 0
WHERE id IN (SELECT value FROM json_each(:ids))
RETURNING id, token, n_failures;

-- name: release
-- Only the present lease ends; released or completed, it is no longer there (-9e999).
UPDATE host SET lease_until_at = -9e999, gate_at = max(gate_at, :gate_at)
WHERE id = :id AND token = :token AND lease_until_at > -9e999;

-- name: hold
UPDATE host SET token = token + 1, lease_until_at = :until_at, lease_by = :by, in_line = 0
WHERE name = :name AND gate_at <= :now AND lease_until_at <= :now
RETURNING token, n_failures;

-- name: let_go
UPDATE host SET lease_until_at = -9e999, gate_at = max(gate_at, :gate_at), n_failures = :n_host_failures
WHERE name = :name AND token = :token AND lease_until_at > -9e999;

-- name: abandon
-- What the dead process asked last is not known, but how long the host wants its rest is from before.
UPDATE host SET
    token = token + 1, lease_until_at = -9e999, gate_at = max(gate_at, :now + coalesce(rest_s, :rest_s))
WHERE lease_until_at > :now AND lease_by IN (SELECT value FROM json_each(:by));

-- name: set_back_hosts
UPDATE host SET
    gate_at = min(gate_at, :now + iif(n_failures > 0, :longest_s, max(coalesce(rest_s, 0.0), :rest_s))),
    lease_until_at = min(lease_until_at, :now + :lease_s)
WHERE gate_at > :now OR lease_until_at > :now + :lease_s;

-- name: set_back_resources
-- What is due for ever after stays so.
UPDATE resource SET
    since_at = iif(since_at > :now, :now, since_at),
    last_at = iif(last_at > :now, :now, last_at),
    due_at = iif(
        due_at < 9e999 AND due_at > :now + iif(rule = 'asked', 0.0, coalesce(plan_gap_s, 0.0)),
        :now + iif(rule = 'asked', 0.0, coalesce(plan_gap_s, 0.0)),
        due_at
    )
WHERE since_at > :now OR last_at > :now
    OR (due_at < 9e999 AND due_at > :now + iif(rule = 'asked', 0.0, coalesce(plan_gap_s, 0.0)))
RETURNING host_id;

-- name: gate_at
SELECT gate_at FROM host WHERE name = :name;

-- name: ready_at
SELECT min(ready_at) FROM (
    SELECT min(ready_at) AS ready_at FROM host WHERE in_line = 0
    UNION ALL
    SELECT min(ready_at) FROM host WHERE in_line = 1
);

-- name: ready_by
SELECT min(ready_at) FROM host WHERE due_at <= :due_by;

-- name: present_leases
SELECT id, token FROM host
WHERE id IN (SELECT value FROM json_each(:ids)) AND lease_until_at > -9e999;

-- name: recorded
SELECT 1 FROM visit WHERE fetch_id = :fetch_id;

-- name: finish
UPDATE host SET
    lease_until_at = -9e999, gate_at = max(gate_at, :gate_at), n_failures = :n_host_failures, rest_s = :rest_s
WHERE id = :id AND token = :token AND lease_until_at > -9e999;

-- name: last_seqs
SELECT r.id, r.last_seq, (SELECT e.at FROM erasure AS e WHERE e.url = r.url)
FROM json_each(:ids) AS j JOIN resource AS r ON r.id = j.value;


-- name: add_visit
INSERT INTO visit (
    id, fetch_id, resource_id, at, since_at, due_at, outcome, informative, status, changed, significant,
    magnitude, event_at, moments, duration_s, n_bytes, second_bytes, evidence, moved_to, p_changed, per_day
) VALUES (
    -- as the query last_visit has it
    (SELECT max(last_gone, (SELECT coalesce(max(id), 0) FROM visit)) + 1 FROM total),
    :fetch_id, :resource_id, :at, :since_at, :due_at, :outcome, :informative, :status, :changed, :significant,
    :magnitude, :event_at, :moments, :duration_s, :n_bytes, :second_bytes, :evidence, :moved_to,
    -- of the plan that led to it, unless that was exchanged for another meanwhile
    (SELECT p_changed FROM resource WHERE id = :resource_id AND due_at = :due_at),
    (SELECT per_day FROM resource WHERE id = :resource_id AND due_at = :due_at)
);

-- name: restate_visit
UPDATE visit SET moments = :moments WHERE fetch_id = :fetch_id AND resource_id = :resource_id;

-- name: add_version
INSERT INTO version (
    resource_id, seq, at, digest, fingerprint, detector, media_type, charset, status, n_bytes, gone, flag,
    answer_url, file, offset, length
) VALUES (
    :resource_id, :seq, :at, :digest, :fingerprint, :detector, :media_type, :charset, :status, :n_bytes, :gone,
    :flag, :answer_url, :file, :offset, :length
);

-- name: stand
UPDATE resource SET
    since_at = :since_at,
    last_at = :last_at,
    gap_s = :gap_s,
    due_at = :due_at,
    n_informative = :n_informative,
    n_changes = :n_changes,
    n_failures = :n_failures,
    bits = :bits,
    etag = :etag,
    last_modified = :last_modified,
    memory = :memory,
    moved_to = :moved_to,
    moved_since_at = :moved_since_at,
    last_seq = :last_seq,
    version_seq = coalesce(:version_seq, version_seq),
    plan_gap_s = :plan_gap_s,
    price = :price,
    p_changed = :p_changed,
    per_day = :per_day,
    rule = :rule,
    bound = :bound,
    planned_at = :planned_at,
    noise = :noise
WHERE id = :id;

-- name: merge_file
INSERT INTO archive_file (name, length) VALUES (:name, :length)
ON CONFLICT DO UPDATE SET length = max(length, excluded.length);

-- name: batch
SELECT
    id, host_id, weight, min_gap_s, max_gap_s, since_at, gap_s, hunch_per_day, hunch_gap_s, n_informative, n_changes,
    n_failures, bits, memory
FROM resource WHERE paused = 0 ORDER BY id;

-- name: pending
SELECT resource_id, at, source_id FROM signal WHERE pending = 1 ORDER BY resource_id;

-- name: told_of
SELECT
    r.id, r.host_id, r.weight, r.min_gap_s, r.max_gap_s, r.since_at, r.gap_s, r.hunch_per_day, r.hunch_gap_s,
    r.n_informative, r.n_changes, r.n_failures, r.bits, r.memory, s.at, s.source_id
FROM signal AS s JOIN resource AS r ON r.id = s.resource_id
WHERE s.source_id = :source_id AND s.at = :at AND s.pending = 1 AND r.paused = 0;

-- name: waiting
-- Of these addresses those that are watched, were visited before, and of which nobody told since.
SELECT j.key, r.id, r.since_at FROM json_each(:urls) AS j JOIN resource AS r ON r.url = j.value
WHERE r.id <> :source_id AND r.since_at < :at
    AND NOT EXISTS (SELECT 1 FROM signal AS s WHERE s.resource_id = r.id AND s.pending = 1)
ORDER BY j.key;

-- name: hear
INSERT INTO signal (resource_id, at, source_id, event_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: hint_at
-- What a source says of one that nobody has looked at closely yet.
UPDATE resource SET lastmod_at = ?2
WHERE url = ?1 AND NOT EXISTS (SELECT 1 FROM sight AS s WHERE s.resource_id = resource.id);

-- name: heed
UPDATE signal SET pending = 0 WHERE resource_id = :id AND pending = 1 AND at <= :since_at;

-- name: unsay
DELETE FROM signal WHERE source_id = :id;

-- name: signals
SELECT at, source_id, event_at FROM signal WHERE resource_id = :resource_id AND at < :before
ORDER BY at DESC LIMIT :limit;

-- name: replan
UPDATE resource SET
    due_at = ?1, gap_s = ?2, plan_gap_s = ?2, p_changed = ?3, per_day = ?4, bound = ?5,
    price = ?6, rule = ?7, planned_at = ?8
-- unless another worker has visited it since the plan was made, in vain too: a retry backs off
WHERE id = ?9 AND (?10 IS NULL OR (since_at = ?10 AND n_failures = 0))
    AND (rule <> 'asked' OR ?7 = 'asked');  -- what a person asked for stands

-- name: visits
SELECT * FROM visit
WHERE resource_id = :resource_id AND at >= :from_at AND (at, id) < (:before_at, :before_id)
ORDER BY at DESC, id DESC LIMIT :limit;

-- name: told
SELECT v.id, v.resource_id, v.since_at, v.at,
    iif(v.changed = 1 AND v.significant = 0 AND r.changes = 'significant', 0, v.changed) AS counted,
    v.event_at, r.host_id, s.at, coalesce(s.source_id, 0),
    r.hunch_per_day, r.hunch_gap_s, v.moments
FROM visit AS v JOIN resource AS r ON r.id = v.resource_id
LEFT JOIN signal AS s ON s.resource_id = v.resource_id AND s.at = (
    SELECT min(w.at) FROM signal AS w
    WHERE w.resource_id = v.resource_id AND w.at > v.since_at AND w.at <= v.at
)
WHERE (v.at, v.id) > (:at, :id) AND v.informative = 1
    AND iif(v.since_at IS NULL, v.moments IS NOT NULL, v.changed >= 0 AND v.at > v.since_at)
ORDER BY v.at, v.id LIMIT :limit;

-- name: last_visit
SELECT max(last_gone, (SELECT coalesce(max(id), 0) FROM visit)) FROM total;

-- name: recorded_since
SELECT * FROM visit WHERE id > :after ORDER BY id LIMIT :limit;

-- name: newest_told
SELECT v.id, v.resource_id, v.since_at, v.at,
    iif(v.changed = 1 AND v.significant = 0 AND r.changes = 'significant', 0, v.changed) AS counted,
    v.event_at, r.host_id, s.at, coalesce(s.source_id, 0),
    r.hunch_per_day, r.hunch_gap_s, v.moments
FROM visit AS v JOIN resource AS r ON r.id = v.resource_id
LEFT JOIN signal AS s ON s.resource_id = v.resource_id AND s.at = (
    SELECT min(w.at) FROM signal AS w
    WHERE w.resource_id = v.resource_id AND w.at > v.since_at AND w.at <= v.at
)
WHERE (v.at, v.id) < (:at, :id) AND v.id <= :last
    AND v.informative = 1 AND iif(v.since_at IS NULL, v.moments IS NOT NULL, v.changed >= 0 AND v.at > v.since_at)
ORDER BY v.at DESC, v.id DESC LIMIT :limit;

-- name: told_since
SELECT v.id, v.resource_id, v.since_at, v.at,
    iif(v.changed = 1 AND v.significant = 0 AND r.changes = 'significant', 0, v.changed) AS counted,
    v.event_at, r.host_id, s.at, coalesce(s.source_id, 0),
    r.hunch_per_day, r.hunch_gap_s, v.moments
FROM visit AS v JOIN resource AS r ON r.id = v.resource_id
LEFT JOIN signal AS s ON s.resource_id = v.resource_id AND s.at = (
    SELECT min(w.at) FROM signal AS w
    WHERE w.resource_id = v.resource_id AND w.at > v.since_at AND w.at <= v.at
)
WHERE v.id > :after AND v.id <= :last AND v.informative = 1
    AND iif(v.since_at IS NULL, v.moments IS NOT NULL, v.changed >= 0 AND v.at > v.since_at)
ORDER BY v.id LIMIT :limit;

-- name: lately
SELECT v.resource_id, v.since_at, v.at,
    iif(v.changed = 1 AND v.significant = 0 AND r.changes = 'significant', 0, v.changed) AS counted,
    v.event_at, r.host_id, s.at, coalesce(s.source_id, 0),
    r.hunch_per_day, r.hunch_gap_s, v.moments
FROM visit AS v JOIN resource AS r ON r.id = v.resource_id
LEFT JOIN signal AS s ON s.resource_id = v.resource_id AND s.at = (
    SELECT min(w.at) FROM signal AS w
    WHERE w.resource_id = v.resource_id AND w.at > v.since_at AND w.at <= v.at
)
WHERE v.resource_id = ?1 AND v.informative = 1
    AND iif(v.since_at IS NULL, v.moments IS NOT NULL, v.changed >= 0 AND v.at > v.since_at)
ORDER BY v.at DESC, v.id DESC LIMIT ?2;

-- name: looked
SELECT resource_id, since_at, at, due_at, informative,
    iif(
        changed = 1 AND significant = 0
            AND (SELECT r.changes FROM resource AS r WHERE r.id = resource_id) = 'significant',
        0, changed
    ) AS counted,
    event_at, p_changed, per_day, id
FROM visit WHERE (at, id) > (:at, :id) AND at < :until_at AND resource_id % :every = 0
ORDER BY at, id LIMIT :limit;

-- name: tally
SELECT CAST((:until_at - at) / :step_s AS INTEGER) AS turn, count(*),
    sum(iif(
        changed = 1 AND significant = 0
            AND (SELECT r.changes FROM resource AS r WHERE r.id = resource_id) = 'significant',
        0, changed = 1
    )),
    sum(informative = 0), count(second_bytes)
FROM visit WHERE at >= :from_at AND at < :until_at GROUP BY turn;

-- name: latest
-- Of each, from the moment of the last that is wanted.
SELECT v.resource_id, v.since_at, v.at, v.due_at, v.informative,
    iif(v.changed = 1 AND v.significant = 0 AND r.changes = 'significant', 0, v.changed) AS counted,
    v.event_at, v.p_changed, v.per_day
FROM json_each(:ids) AS j CROSS JOIN resource AS r ON r.id = j.value
CROSS JOIN visit AS v ON v.resource_id = r.id AND v.at >= coalesce(
    (
        SELECT w.at FROM visit AS w WHERE w.resource_id = r.id AND w.at >= :from_at
        ORDER BY w.at DESC LIMIT 1 OFFSET :n_before
    ),
    :from_at
)
ORDER BY v.resource_id, v.at, v.id;

-- name: roll
SELECT
    r.id, r.host_id, r.kind, r.paused, v.gone, r.added_at, r.last_at, iif(r.n_changes > 0, v.at, NULL), r.due_at,
    r.per_day, r.n_informative, r.n_failures
FROM resource AS r LEFT JOIN version AS v ON v.resource_id = r.id AND v.seq = r.version_seq
ORDER BY r.id;

-- name: known_urls
SELECT r.url FROM json_each(:urls) AS j JOIN resource AS r ON r.url = j.value;

-- name: ids_by_url
SELECT id FROM resource ORDER BY url;

-- name: prospects
SELECT id, host_id, weight, min_gap_s, max_gap_s, paused, since_at, plan_gap_s, p_changed, per_day
FROM resource ORDER BY id;

-- name: recount
UPDATE resource SET n_changes = :n_changes, bits = :bits WHERE id = :id AND since_at IS :since_at;

-- name: remind
UPDATE resource SET memory = :memory WHERE id = :id AND since_at IS :since_at;

-- name: versions
SELECT * FROM version WHERE id > :after ORDER BY id LIMIT :limit;

-- name: versions_of
SELECT * FROM version WHERE resource_id = :resource_id AND seq > :after ORDER BY seq LIMIT :limit;

-- name: n_visits_since
SELECT count(*) FROM visit WHERE at >= :at;

-- name: n_second_since
SELECT count(*) FROM visit INDEXED BY visit_second WHERE at >= :at AND second_bytes IS NOT NULL;

-- name: counts
SELECT
    (SELECT count(*) FROM resource) AS resources,
    (SELECT count(DISTINCT host_id) FROM resource) AS hosts,
    (SELECT count(*) FROM resource WHERE paused = 0 AND due_at IS NOT NULL AND due_at <= :now) AS due,
    (SELECT count(*) FROM resource WHERE paused = 1) AS paused,
    (SELECT count(*) FROM host WHERE lease_until_at > :now) AS leased,
    n_visits AS visits, n_changes AS changes, n_failures AS failures, n_versions AS versions,
    n_second AS second_looks
FROM total;

-- name: files
SELECT name, length FROM archive_file ORDER BY name;

-- name: fact
SELECT value FROM fact WHERE key = :key;

-- name: mark_said
INSERT INTO fact (key, value) VALUES ('said', '1')
ON CONFLICT DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT);

-- name: put_fact
INSERT INTO fact (key, value) VALUES (:key, :value) ON CONFLICT DO UPDATE SET value = excluded.value;

-- Payloads held once, and files that were carried away.

-- name: holding
SELECT v.* FROM json_each(:digests) AS j JOIN version AS v ON v.id = (
    SELECT w.id FROM version AS w
    WHERE substr(w.digest, 8, 16) = substr(j.value, 8, 16) AND w.digest = j.value
        AND w.n_bytes >= 512 AND w.flag = '' AND w.file <> ''
    ORDER BY w.id DESC LIMIT 1
);

-- name: carried
SELECT name, address FROM archive_file WHERE address <> '' ORDER BY name;

-- name: carry
UPDATE archive_file SET address = :address WHERE name = :name;

-- The past by time: what replay asks for. Their order in time need not be that of their numbers.

-- name: history
SELECT * FROM version
WHERE resource_id = :resource_id AND flag = '' AND at >= :from_at AND at < :until_at
ORDER BY at, seq LIMIT :limit;

-- name: history_back
SELECT * FROM version
WHERE resource_id = :resource_id AND flag = '' AND at >= :from_at AND at < :until_at
ORDER BY at DESC, seq DESC LIMIT :limit;

-- Taking out: files written anew, erasures.

-- name: doom
INSERT INTO doomed_file (name) SELECT value FROM json_each(:names) WHERE true ON CONFLICT DO NOTHING;

-- name: doom_files
INSERT INTO doomed_file (name, address) SELECT name, address FROM archive_file
WHERE name IN (SELECT value FROM json_each(:names))
ON CONFLICT DO UPDATE SET address = excluded.address;

-- name: doomed
SELECT name, address FROM doomed_file ORDER BY name;

-- name: bury
DELETE FROM doomed_file WHERE name IN (SELECT value FROM json_each(:names));

-- name: placed
SELECT * FROM version WHERE file = :file ORDER BY offset, id;

-- name: crowded
SELECT resource_id FROM version WHERE resource_id > :after
GROUP BY resource_id HAVING count(*) > 2 ORDER BY resource_id LIMIT :limit;

-- name: drop_version
-- By time and place: numbers may have moved up meanwhile.
DELETE FROM version WHERE resource_id = :resource_id AND at = :at AND file = :file AND offset = :offset;

-- name: blank_version
UPDATE version SET
    digest = '', fingerprint = '', detector = '', media_type = '', charset = NULL, n_bytes = 0,
    flag = 'erased', answer_url = '', file = '', offset = 0, length = 0
WHERE resource_id = :resource_id AND at = :at AND file = :file AND offset = :offset;

-- name: move_payload
UPDATE version SET file = ?3, offset = ?4, length = ?5 WHERE file = ?1 AND offset = ?2;

-- name: n_placed
SELECT count(*) FROM version WHERE file IN (SELECT value FROM json_each(:names));

-- name: drop_files
DELETE FROM archive_file WHERE name IN (SELECT value FROM json_each(:names));

-- name: begin_erasure
INSERT INTO erasure (url, at, why) VALUES (:url, :at, :why)
ON CONFLICT DO UPDATE SET at = excluded.at, why = excluded.why, done = 0;

-- name: blank_resource
UPDATE resource SET
    etag = NULL, last_modified = NULL, moved_to = NULL, moved_since_at = NULL, version_seq = NULL, noise = NULL,
    hunch_per_day = NULL, hunch_gap_s = NULL
WHERE id = :id;

-- name: blank_visits
UPDATE visit SET evidence = '', moved_to = NULL, moments = NULL WHERE resource_id = :id;

-- name: blank_sight
DELETE FROM sight WHERE resource_id = :id;

-- name: blank_hunches
DELETE FROM hunch WHERE resource_id = :id;

-- name: blank_links
DELETE FROM link WHERE from_id = :id;

-- name: n_erased
SELECT count(*) FROM version WHERE resource_id = :id AND flag = 'erased';

-- name: end_erasure
UPDATE erasure SET
    done = :done, n_versions = :n_versions, n_records = n_records + :n_records, n_bytes = n_bytes + :n_bytes,
    shared = :shared
WHERE url = :url;

-- name: erasures
SELECT * FROM erasure ORDER BY at, url;

-- Visits that were made elsewhere.

-- name: recorded_among
SELECT v.fetch_id FROM json_each(:fetch_ids) AS j JOIN visit AS v ON v.fetch_id = j.value;

-- name: adopting
-- Only where nobody is at the host. A lease that ran out ends here: whoever had it must not record it late,
-- from where the resource stood before.
UPDATE host SET token = token + 1, lease_until_at = -9e999
WHERE id = (SELECT host_id FROM resource WHERE id = :id) AND lease_until_at <= :now;

-- name: stands_so
SELECT last_seq FROM resource
WHERE id = :id AND last_at IS :last_at AND n_informative = :n_informative AND n_failures = :n_failures;

-- name: seq_before
-- From the newest number down: most come after all others. By the index of times it would read all before.
SELECT coalesce(max(seq), 0) AS seq FROM version WHERE resource_id = :id AND +at <= :at;

-- name: make_way
-- In two steps: a number is never there twice.
UPDATE version SET seq = -(seq + 1) WHERE resource_id = :id AND seq > :seq;

-- name: made_way
UPDATE version SET seq = -seq WHERE resource_id = :id AND seq < 0;

-- name: newest_seq
SELECT max(seq) AS seq FROM version WHERE resource_id = :id AND flag = '';

-- Taking out, place by place: whoever takes out a hundred thousand versions asks as often.

-- name: placed_at
SELECT * FROM version WHERE file = :file AND offset = :offset ORDER BY id;

-- name: hand_on
UPDATE version SET file = ?3, offset = ?4, length = ?5 WHERE file = ?1 AND offset = ?2 AND resource_id <> ?6;

-- name: blank_versions
UPDATE version SET
    digest = '', fingerprint = '', detector = '', media_type = '', charset = NULL, n_bytes = 0,
    flag = 'erased', answer_url = '', file = '', offset = 0, length = 0
WHERE resource_id = :resource_id;

-- name: erasures_of
SELECT * FROM erasure WHERE url = :url;

-- name: settle_log
INSERT INTO fact (key, value) VALUES ('settled', '1')
ON CONFLICT DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT);

-- First sight, and what was made of it.

-- name: see
INSERT INTO sight (resource_id, at, format, features) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT DO UPDATE SET at = excluded.at, format = excluded.format, features = excluded.features;

-- name: sights
SELECT resource_id, features FROM sight
WHERE resource_id > :after AND format = :format AND length(features) = :n_bytes
ORDER BY resource_id LIMIT :limit;

-- name: sight
SELECT at, format, features FROM sight WHERE resource_id = :id;

-- name: sighted_at
SELECT resource_id, at FROM sight
WHERE resource_id IN (SELECT value FROM json_each(:ids)) AND format = :format;

-- name: expect
INSERT INTO hunch (resource_id, model, at, per_day, gap_s)
SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM resource WHERE id = ?1)
ON CONFLICT DO UPDATE SET at = excluded.at, per_day = excluded.per_day, gap_s = excluded.gap_s;

-- name: stand_expected
UPDATE resource SET hunch_per_day = ?2, hunch_gap_s = ?3 WHERE id = ?1;

-- name: expected
SELECT model, at, per_day, gap_s FROM hunch WHERE resource_id = :id ORDER BY at DESC, model DESC;

-- name: models
SELECT model, max(at) AS at FROM hunch GROUP BY model ORDER BY max(at), model;

-- name: drop_hunches
DELETE FROM hunch WHERE model IN (SELECT value FROM json_each(:models));

-- name: connect
INSERT INTO link (from_id, to_id)
SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM resource WHERE id = ?1) AND EXISTS (SELECT 1 FROM resource WHERE id = ?2)
ON CONFLICT DO NOTHING;

-- name: connect_watched
INSERT INTO link (from_id, to_id) SELECT ?1, id FROM resource WHERE url = ?2 AND id <> ?1 ON CONFLICT DO NOTHING;

-- name: links
SELECT from_id, to_id FROM link WHERE (from_id, to_id) > (:from_id, :to_id)
ORDER BY from_id, to_id LIMIT :limit;

-- name: in_links
SELECT to_id, count(*) FROM link
WHERE to_id IN (SELECT value FROM json_each(:ids)) AND from_id <> to_id GROUP BY to_id;

-- The words of versions.

-- name: keep_bag
INSERT INTO bag (resource_id, at, base, format, detector, packed) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT DO UPDATE SET
    base = excluded.base, format = excluded.format, detector = excluded.detector, packed = excluded.packed;

-- name: bag_times
SELECT at, base FROM bag WHERE resource_id = :id ORDER BY at;

-- name: drop_bag
DELETE FROM bag WHERE resource_id = ?1 AND at = ?2;

-- name: drop_bags
DELETE FROM bag WHERE resource_id = :id AND at <= :until_at;

-- name: versions_left
-- Of these moments those at which a version came that is there still, and was not erased nor is being.
SELECT v.at FROM json_each(:times) AS j JOIN version AS v ON v.resource_id = :id AND v.at = j.value
WHERE v.flag = '' AND v.at > coalesce(
    (SELECT e.at FROM resource AS r JOIN erasure AS e ON e.url = r.url WHERE r.id = :id), -9e999
);

-- name: bases
SELECT b.resource_id, b.at, b.detector, b.packed FROM json_each(:ids) AS j JOIN bag AS b ON b.id = (
    SELECT c.id FROM bag AS c
    WHERE c.resource_id = j.value AND c.at < :until_at AND c.base = 1 AND c.format = :format
    ORDER BY c.at DESC LIMIT 1
);

-- name: bags
SELECT id, resource_id, at, packed FROM bag
WHERE (resource_id, at) > (:resource_id, :at) AND format = :format
ORDER BY resource_id, at LIMIT :limit;

-- name: bags_of
SELECT b.id, b.resource_id, b.at, b.packed FROM json_each(:ids) AS j
CROSS JOIN bag AS b ON b.resource_id = j.value AND b.format = :format
ORDER BY b.resource_id, b.at;

-- Who is kin of whom.

-- name: kin
SELECT resource_id, of_id, weight FROM kin WHERE (resource_id, of_id) > (:id, :of_id)
ORDER BY resource_id, of_id LIMIT :limit;

-- name: kin_of
SELECT resource_id, of_id, weight FROM kin WHERE resource_id IN (SELECT value FROM json_each(:ids))
ORDER BY resource_id, of_id;

-- name: forget_kin
DELETE FROM kin WHERE resource_id IN (SELECT value FROM json_each(:ids));

-- name: note_kin
INSERT INTO kin (resource_id, of_id, weight)
SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM resource WHERE id = ?1) AND EXISTS (SELECT 1 FROM resource WHERE id = ?2)
ON CONFLICT DO UPDATE SET weight = excluded.weight;

-- How long visits take, and what is due when.

-- name: took
SELECT
    v.resource_id, r.host_id, v.at, v.due_at, v.duration_s,
    v.outcome = 'net-error' OR v.status = 429 OR v.status >= 500, v.changed = 1
FROM visit AS v JOIN resource AS r ON r.id = v.resource_id
WHERE v.duration_s > 0.0
ORDER BY v.at DESC, v.resource_id DESC LIMIT :limit;

-- name: hosts
SELECT id, name, rest_s, gate_at, n_failures FROM host ORDER BY id;

-- name: planned
SELECT id, host_id, due_at, n_failures, n_informative > 0 AND n_changes = 0 FROM resource
WHERE paused = 0 AND due_at IS NOT NULL ORDER BY host_id, due_at, id;
