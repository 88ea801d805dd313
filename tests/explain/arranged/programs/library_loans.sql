-- SPDX-License-Identifier: MIT
-- Who borrows the same books: loans of a city library, grouped per reader.
\timing on
CREATE TABLE loans AS SELECT (random() * 60000)::int AS reader, (random() * 4000000)::int AS book, md5(i::text) AS note
FROM generate_series(1, :rows) AS i;
ANALYZE loans;
SET work_mem = :'work_mem';
SHOW work_mem;
SET max_parallel_workers_per_gather = 0;
SELECT count(*) AS groups, max(loans) AS most FROM (SELECT book, note, count(*) AS loans FROM loans GROUP BY book, note) AS per_book;
SELECT array_length(array_agg(note || reader ORDER BY note), 1) AS notes FROM loans;
