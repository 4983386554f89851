-- What people ask of the visits of all resources. Left to itself, the planner would not always read by time.

-- name: near_changes
-- The newest changes before a place, each with whether it is among those that are sought. All that is asked of the
-- visits themselves stands in the index.
SELECT v.at, v.resource_id, v.id,
    (
        v.significant IS NOT 0 OR :which = 'all' OR (:which = 'counting' AND r.changes = 'any')
    )
    AND (:host IS NULL OR r.host_id = (SELECT id FROM host WHERE name = :host))
    AND (:kind IS NULL OR r.kind = :kind)
    AND (:text IS NULL OR instr(lower(r.url), lower(:text)) > 0)
    AND (:tag IS NULL OR EXISTS (SELECT 1 FROM resource_tag AS t WHERE t.resource_id = r.id AND t.tag = :tag))
FROM visit AS v INDEXED BY visit_change CROSS JOIN resource AS r ON r.id = v.resource_id
WHERE v.changed = 1 AND v.at >= :from_at
    AND (v.at, v.resource_id, v.id) < (:before_at, :before_resource, :before_id)
ORDER BY v.at DESC, v.resource_id DESC, v.id DESC LIMIT :limit;

-- name: near_failures
SELECT v.at, v.resource_id, v.id,
    (:host IS NULL OR r.host_id = (SELECT id FROM host WHERE name = :host))
    AND (:kind IS NULL OR r.kind = :kind)
    AND (:text IS NULL OR instr(lower(r.url), lower(:text)) > 0)
    AND (:tag IS NULL OR EXISTS (SELECT 1 FROM resource_tag AS t WHERE t.resource_id = r.id AND t.tag = :tag))
FROM visit AS v INDEXED BY visit_failure CROSS JOIN resource AS r ON r.id = v.resource_id
WHERE v.informative = 0 AND v.at >= :from_at
    AND (v.at, v.resource_id, v.id) < (:before_at, :before_resource, :before_id)
ORDER BY v.at DESC, v.resource_id DESC, v.id DESC LIMIT :limit;

-- name: visit_id
SELECT id FROM visit WHERE fetch_id = :fetch_id;

-- name: visits_by_id
SELECT v.* FROM json_each(:ids) AS j JOIN visit AS v ON v.id = j.value ORDER BY j.id;

-- name: sums
SELECT count(*),
    coalesce(sum(
        changed = 1 AND (
            significant IS NOT 0 OR (SELECT r.changes FROM resource AS r WHERE r.id = resource_id) = 'any'
        )
    ), 0),
    coalesce(sum(informative = 0), 0),
    count(second_bytes),
    coalesce(sum(n_bytes), 0) + coalesce(sum(second_bytes), 0)
FROM visit WHERE at >= :from_at AND at < :until_at;

-- name: most_changed
SELECT f.resource_id, r.url, f.n,
    (
        SELECT count(*) FROM visit AS w
        WHERE w.resource_id = f.resource_id AND w.at >= :from_at AND w.at < :until_at
    ),
    f.last_at
FROM (
    SELECT v.resource_id, count(*) AS n, max(v.at) AS last_at FROM visit AS v INDEXED BY visit_change
    WHERE v.changed = 1 AND v.at >= :from_at AND v.at < :until_at AND (
        v.significant IS NOT 0 OR (SELECT c.changes FROM resource AS c WHERE c.id = v.resource_id) = 'any'
    )
    GROUP BY v.resource_id ORDER BY n DESC, last_at DESC, v.resource_id DESC LIMIT :limit
) AS f JOIN resource AS r ON r.id = f.resource_id
ORDER BY f.n DESC, f.last_at DESC, f.resource_id DESC;

-- name: failures
SELECT h.name, v.outcome, v.status, count(*) AS n, max(v.at) AS last_at
FROM visit AS v INDEXED BY visit_failure CROSS JOIN resource AS r ON r.id = v.resource_id
CROSS JOIN host AS h ON h.id = r.host_id
WHERE v.informative = 0 AND v.at >= :from_at AND (:host IS NULL OR h.name = :host)
GROUP BY h.id, v.outcome, v.status ORDER BY n DESC, last_at DESC, h.name, v.outcome, v.status LIMIT :limit;

-- name: coming
-- Only hosts whose first resource is due by then, and of each only what is.
SELECT r.id, r.url, h.name, r.due_at
FROM host AS h CROSS JOIN resource AS r INDEXED BY resource_due ON r.host_id = h.id
WHERE h.due_at < :until_at AND r.paused = 0 AND r.due_at >= :from_at AND r.due_at < :until_at
ORDER BY r.due_at, r.id LIMIT :limit;

-- name: in_turn
SELECT r.id, r.url, h.name, h.due_at FROM host AS h JOIN resource AS r ON r.id = h.next_id
WHERE h.due_at <= :now ORDER BY h.due_at, h.next_id LIMIT :limit;

-- name: host_standings
SELECT h.id, h.name, (SELECT count(*) FROM resource AS r WHERE r.host_id = h.id) AS n_resources,
    (
        SELECT count(*) FROM resource AS r
        WHERE r.host_id = h.id AND r.paused = 0 AND r.due_at IS NOT NULL
    ) AS n_planned,
    h.gate_at, h.lease_until_at, h.rest_s, h.n_failures, h.due_at
FROM host AS h
WHERE h.name > :after AND (:text IS NULL OR instr(h.name, lower(:text)) > 0)
    AND EXISTS (SELECT 1 FROM resource AS r WHERE r.host_id = h.id)
ORDER BY h.name LIMIT :limit;

-- name: host_standing
SELECT h.id, h.name, (SELECT count(*) FROM resource AS r WHERE r.host_id = h.id) AS n_resources,
    (
        SELECT count(*) FROM resource AS r
        WHERE r.host_id = h.id AND r.paused = 0 AND r.due_at IS NOT NULL
    ) AS n_planned,
    h.gate_at, h.lease_until_at, h.rest_s, h.n_failures, h.due_at
FROM host AS h
WHERE h.name = :name AND EXISTS (SELECT 1 FROM resource AS r WHERE r.host_id = h.id);

-- name: troubled
SELECT h.id, h.name, (SELECT count(*) FROM resource AS r WHERE r.host_id = h.id) AS n_resources,
    (
        SELECT count(*) FROM resource AS r
        WHERE r.host_id = h.id AND r.paused = 0 AND r.due_at IS NOT NULL
    ) AS n_planned,
    h.gate_at, h.lease_until_at, h.rest_s, h.n_failures, h.due_at
FROM host AS h
WHERE h.n_failures > 0 AND EXISTS (SELECT 1 FROM resource AS r WHERE r.host_id = h.id)
ORDER BY h.n_failures DESC, h.name LIMIT :limit;

-- name: n_troubled
SELECT count(*) FROM host AS h
WHERE h.n_failures > 0 AND EXISTS (SELECT 1 FROM resource AS r WHERE r.host_id = h.id);
