-- SPDX-License-Identifier: MIT
-- Stock movements joined with the articles of each warehouse, in parallel.
CREATE TABLE articles AS SELECT i AS article, 'article ' || md5(i::text) AS name FROM generate_series(1, :articles) AS i;
CREATE TABLE moves AS SELECT (i::bigint * 7919 % :articles)::int + 1 AS article, i % 50 AS warehouse, random() * 100 AS pieces FROM generate_series(1, 600000) AS i;
ANALYZE articles;
ANALYZE moves;
SET work_mem = '256MB';
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT warehouse, count(DISTINCT name), sum(pieces) FROM moves JOIN articles USING (article) GROUP BY warehouse;
SELECT warehouse, count(DISTINCT name) AS names, round(sum(pieces)) AS pieces FROM moves JOIN articles USING (article)
GROUP BY warehouse ORDER BY pieces DESC LIMIT 5;
