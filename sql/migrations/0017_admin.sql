-- What those who run the service do to accounts, threads and messages: suspension, and a record of all of it.
-- locks: users (access exclusive), for an instant
-- length: milliseconds
-- breaking: no

-- Who is suspended can't sign in.
alter table users add column suspended_at timestamptz;

-- Ids only, so that an erased account leaves nothing here by which it is known.
create table audit (
    id uuid primary key,
    at timestamptz not null,
    actor text not null,
    action text not null,
    user_id uuid,
    thread_id uuid,
    message_id uuid,
    -- As the service's log and X-Request-Id name it; null for what came from the command line.
    request_id text
);
