-- Accounts with one device each, in small groups, with an unread message; and a function that creates alerts for them.
create function push_user(n int) returns uuid language sql immutable as $$
    select ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid $$;
create function push_thread(n int) returns uuid language sql immutable as $$
    select ('00000000-0000-0000-0001-' || lpad(n::text, 12, '0'))::uuid $$;
insert into users (id, name, created_at) select push_user(n), 'User ' || n, now() from generate_series(0, :count) n;
insert into threads (id, kind, title, created_at, member_count)
select push_thread(n), 'group', 'Group', now(), :threads from generate_series(1, :count) n;
insert into members (thread_id, user_id, role, status, joined_at)
select push_thread(1 + (n + k) % :count), push_user(n), 'member', 'joined', now()
from generate_series(1, :count) n, generate_series(0, :threads - 1) k;
insert into messages (thread_id, seq, id, sender_id, type, payload, created_at, pos)
select push_thread(n), 1, gen_random_uuid(), push_user(0), 'message', '{"text":"Hello there, how are you?"}', now(), 0
from generate_series(1, :count) n;
insert into push_targets (session_id, user_id, platform, token, token_digest, environment, registered_at, decided_pos)
select push_user(n), push_user(n), 'apns', md5(n::text) || md5((-n)::text), push_user(n)::text::bytea, 'production', now(), 0
from generate_series(1, :count) n;
create sequence push_next;
-- Creates alerts for devices that had none yet, p_rate a second.
create function push_these(p_count int, p_rate int) returns void language sql as $$
    insert into push_jobs (session_id, pos, id, platform, thread_id, seq, at, due_at)
    select push_user(u.n), 1, gen_random_uuid(), 'apns', push_thread(1 + (u.n % (select count(*) from push_targets))::int), 1,
        now(), now() + interval '1 s' + u.place * interval '1 s' / p_rate
    from (select nextval('push_next')::int as n, i as place from generate_series(1, p_count) i) u
$$;
-- Not of messages: the threads of the workload are unlike these.
vacuum analyze users, members, push_targets;
