-- SPDX-License-Identifier: MIT
-- Export the journal of a shop as one text for the auditor.
CREATE TABLE journal AS SELECT i AS entry, now() AS booked, repeat('account ' || i || '; ', :width) AS line FROM generate_series(1, :entries) AS i;
SELECT count(*) AS entries, pg_size_pretty(sum(length(line))) AS text FROM journal;
SELECT length(string_agg(line, E'\n' ORDER BY entry)) AS exported FROM journal;
