-- SPDX-License-Identifier: MIT
-- Monthly means of weather stations, kept in a table in memory.
.bail on
PRAGMA temp_store = MEMORY;
CREATE TEMP TABLE readings (station INTEGER, day INTEGER, celsius REAL, remark TEXT);
WITH RECURSIVE days(d) AS (SELECT 1 UNION ALL SELECT d + 1 FROM days WHERE d < 365)
INSERT INTO readings SELECT s.value, d, 10 + 12 * sin(d / 58.1) + s.value % 7, printf('station %06d, day %03d, observed by hand', s.value, d)
FROM days, generate_series(1, (SELECT stations FROM params)) AS s;
SELECT count(*) || ' readings' FROM readings;
CREATE INDEX temp.by_station ON readings (station, day, remark);
SELECT station, day / 31 + 1 AS month, round(avg(celsius), 1) FROM readings GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 3;
