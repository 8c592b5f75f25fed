-- Failed sign-ins in a row, and the two codes that an e-mail address may have at a time.
-- locks: mail_codes (access exclusive), for milliseconds; the other table is new
-- length: milliseconds
-- breaking: no

-- Wrong passwords in a row, one row a name that was tried: 16 bytes of a digest, so that no name is kept, and no row tells
-- whether there is such an account. Unlogged, as rate_limits is: a crash may lose a few failures, and a try does not wait
-- for the disk.
create unlogged table sign_in_failures (
    key bytea primary key,
    failed int not null,
    failed_at timestamptz not null
);
create index sign_in_failures_by_time on sign_in_failures (failed_at);

-- When the registration in this row was asked for; null when there is none.
alter table mail_codes add column registered_at timestamptz;
-- The code mailed first, of those that are still good; the columns that begin with `code_` have the one mailed last.
alter table mail_codes add column first_hash text;
alter table mail_codes add column first_email text;
alter table mail_codes add column first_expires_at timestamptz;
alter table mail_codes add column first_tries int not null default 0;
