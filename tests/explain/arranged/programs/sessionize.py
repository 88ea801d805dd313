# SPDX-License-Identifier: MIT
"""Turn web events into sessions with DuckDB and print the longest ones."""
import argparse
import json
import time

import duckdb

EVENTS = """
CREATE TABLE events AS
SELECT (hash(i) % 200000)::INTEGER AS visitor, (i * 37 % 2592000)::BIGINT AS second, md5(i::VARCHAR) AS page
FROM range({rows}) AS t(i)
"""
SESSIONS = """
WITH gaps AS (
    SELECT visitor, second, page, second - lag(second) OVER (PARTITION BY visitor ORDER BY second) > 1800 AS starts FROM events),
numbered AS (SELECT visitor, second, page, sum(starts::INTEGER) OVER (PARTITION BY visitor ORDER BY second) AS session FROM gaps)
SELECT visitor, session, count(*) AS pages, list(page ORDER BY second) AS path
FROM numbered GROUP BY ALL ORDER BY pages DESC LIMIT 5
"""


def say(event, **values):
    print(json.dumps({"t": round(time.time(), 3), "event": event, **values}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    connection = duckdb.connect(config={"threads": args.threads})
    limit = connection.execute("SELECT current_setting('memory_limit')").fetchone()[0]
    say("start", duckdb=duckdb.__version__, rows=args.rows, memory_limit=limit)
    connection.execute(EVENTS.format(rows=args.rows))
    say("loaded", rows=args.rows)
    for visitor, session, pages, path in connection.execute(SESSIONS).fetchall():
        say("session", visitor=visitor, session=str(session), pages=pages, first=path[0])


if __name__ == "__main__":
    main()
