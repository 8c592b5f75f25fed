-- How often somebody has tried to sign in, on all nodes together.
-- locks: none, the table is new
-- length: milliseconds
-- breaking: no

-- One row a limit and whom it concerns: 16 bytes of a digest, so that no name and no address is kept. It goes once its
-- bucket is full. Unlogged: what a crash may lose here is a few tries, and a try needn't wait for the disk.
create unlogged table rate_limits (
    key bytea primary key,
    full_at timestamptz not null
);
create index rate_limits_by_time on rate_limits (full_at);
