-- SPDX-License-Identifier: MIT
-- Make a table for each tenant and lock them all for the yearly change of schema.
CREATE TABLE invoices (tenant int, number bigint, total numeric) PARTITION BY LIST (tenant);
\set QUIET on
SELECT format('CREATE TABLE invoices_%s PARTITION OF invoices FOR VALUES IN (%s)', i, i) FROM generate_series(1, :tenants) AS i
\gexec
SELECT count(*) AS partitions FROM pg_inherits;
BEGIN;
ALTER TABLE invoices ADD COLUMN currency text DEFAULT 'EUR';
SELECT count(*) AS locks FROM pg_locks;
COMMIT;
