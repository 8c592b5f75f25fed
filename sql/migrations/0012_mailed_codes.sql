-- Signing in by codes that are mailed.
-- locks: users (access exclusive), for as long as it takes to read it once; the other tables are new
-- length: a second for ten million users
-- breaking: no

-- Where codes are mailed to, and its case-folded form, which must be unique. Null for accounts that sign in another way.
alter table users add column email text;
alter table users add column email_key text;
create unique index users_by_email on users (email_key) where email_key is not null;

-- What goes on at an address, whether it has an account or not. Gone a day after it was last asked for.
create table mail_codes (
    email_key text primary key,
    -- When the day began over which the following two are counted.
    counted_from timestamptz not null,
    -- How often a code was asked for, and how often one was tried that was good and got it wrong.
    asked int not null,
    failed int not null,
    -- Of the account that is made when the code is used, if somebody registered.
    name text,
    words text[],
    device_name text,
    -- The code that was mailed last, as a PHC string ($scrypt$…); the code itself is nowhere. Null when none is good.
    code_hash text,
    -- Where to.
    code_email text,
    code_expires_at timestamptz,
    code_tries int not null default 0
) with (fillfactor = 80);
create index mail_codes_by_age on mail_codes (counted_from);

-- Mails with codes that are to be sent. A row goes once the relay has the mail, or with the code's life.
create table mails (
    id uuid primary key,
    -- One for each address: who asks again before the mail is sent gets one mail.
    email_key text not null unique,
    email text not null,
    asked_at timestamptz not null,
    -- When to send; while a node is at it, when another may take over.
    due_at timestamptz not null,
    -- Counts who is at it: what an earlier one says of it doesn't count any more.
    attempt int not null default 0
);
create index mails_due on mails (due_at);
