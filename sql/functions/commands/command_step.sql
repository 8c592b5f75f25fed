-- Finding messages that run commands, and giving them to nodes.

-- Searches the next part of the log for messages that run a command, and claims what is due for the calling node: at
-- most `p_limit` runs, and at most `p_running_max` of a command on all nodes together. A claim lasts `p_lease_s`
-- seconds; then another node may claim the run. With `p_waiting_max` runs of a command waiting, or a quarter of that from
-- one person, further ones are refused. Each node calls it every tick.
-- Returns: the claimed runs with what a request needs. `refusal` is null, or why there is no request: disabled | busy.
-- Runs whose message was deleted meanwhile, and those of a suspended bot, are dropped.
-- Locks: the commands (one node at a time), then the runs
-- Costs: one index probe while there is no command. Otherwise a look at each message after the last call
create or replace function command_step(
    p_limit int, p_running_max int, p_waiting_max int, p_lease_s int, p_now timestamptz default clock_timestamp()
) returns table (command_id uuid, thread_id uuid, message_id uuid, claim int, tries int, refusal text, event_id text,
    word text, url text, secret bytea, former_secret bytea, sent_at timestamptz, arguments text, message text, sender text)
language plpgsql volatile
set enable_sort = off
as $$
#variable_conflict use_column
declare
    v_void tid[];
    v_due tid[];
begin
    if not exists (select from commands) then
        return;
    end if;
    lock table command_lock in share update exclusive mode;
    perform command_search(p_waiting_max, 10000, p_now);
    select array_agg(d.run) filter (where d.is_void), array_agg(d.run) filter (where not d.is_void) into v_void, v_due
    from (
        select x.run, x.is_suspended or (message_find(x.thread_id, x.message_id)).payload is null as is_void
        from command_due(p_limit, p_running_max, p_now) x offset 0) d;
    if v_void is not null then
        delete from command_runs r where r.ctid = any (v_void);
    end if;
    if v_due is null then
        return;
    end if;
    return query
    with claimed as (
        update command_runs r set is_running = true, claim = r.claim + 1, due_at = p_now + make_interval(secs => p_lease_s)
        where r.ctid = any (v_due) and r.due_at <= p_now
        returning r.*
    )
    select r.command_id, r.thread_id, r.message_id, r.claim, r.tries,
        case when not c.is_enabled then 'disabled' when r.is_refused then 'busy' end, r.event_id, c.word, c.url, c.secret,
        case when c.former_until > p_now then c.former_secret end, m.created_at,
        command_arguments(message_sent(m) ->> 'text'),
        message_json(m.thread_id, m.seq, m.id, m.sender_id, u.name, u.profile_image, m.type, message_sent(m), m.reply_to,
            m.mentions, m.created_at, null, null, m.expires_at),
        json_build_object('id', u.id, 'username', u.username, 'name', u.name, 'profile_image', u.profile_image,
            'external_id', u.external_id)::text
    from claimed r
    cross join lateral (select x.* from commands x where x.id = r.command_id limit 1) c
    cross join lateral message_find(r.thread_id, r.message_id) m
    cross join lateral (select x.* from users x where x.id = m.sender_id limit 1) u;
end $$;

-- Returns: the runs to claim next. The people of a command are served in turn, each with the run that has waited longest,
-- and nobody has more than half of the command's requests under way: a flood of one person delays that person alone.
-- Costs: a few index probes for each command, and a row for each run that waits
create or replace function command_due(p_limit int, p_running_max int, p_now timestamptz)
returns table (run tid, thread_id uuid, message_id uuid, is_suspended boolean)
language sql stable as $$
    select r.run, r.thread_id, r.message_id, u.suspended_at is not null
    from commands c
    cross join lateral (select x.suspended_at from users x where x.id = c.user_id limit 1) u
    cross join lateral (
        select array_agg(y.user_id) as users from command_runs y
        where y.command_id = c.id and y.is_running and y.due_at > p_now) running
    cross join lateral (
        select x.run, x.thread_id, x.message_id, x.due_at, x.place
        from (
            select w.ctid as run, w.thread_id, w.message_id, w.due_at,
                coalesce(cardinality(array_positions(running.users, w.user_id)), 0)
                    + row_number() over (partition by w.user_id order by w.due_at) as place
            from command_runs w where w.command_id = c.id and w.due_at <= p_now) x
        where x.place <= greatest(1, p_running_max / 2)
        order by x.place, x.due_at
        limit greatest(0, p_running_max - coalesce(cardinality(running.users), 0))
    ) r
    order by r.place, r.due_at limit p_limit
$$;

-- Adds a run for each message of a member that begins with the word of a command, in the next part of the log. Bots,
-- the service and people who wrote no text run nothing. If the log has lost its tail, the search goes on from where
-- the tail was lost.
-- Locks: the caller holds the commands
-- Costs: reads at most `p_scan` positions of the log, and a message for each that was sent there
create or replace function command_search(p_waiting_max int, p_scan int, p_now timestamptz) returns void
language plpgsql volatile
set enable_sort = off
as $$
declare
    v_state command_state;
    v_place record;
    v_pos bigint;
    v_last bigint;
begin
    if not exists (select from commands c where c.is_enabled) then
        return;
    end if;
    select * into v_state from command_state;
    select * into v_place from log_place(v_state.epoch, v_state.pos);
    v_pos := v_state.pos;
    if v_place.state = 'lost' then
        v_pos := least(coalesce(v_place.epoch_end - 1, v_place.head), v_place.head, v_pos);
        update commands c set since_pos = v_pos where c.since_pos > v_pos;
    end if;
    v_pos := greatest(v_pos, (select t.end_pos - 1 from log_trims t order by t.end_pos desc limit 1));
    v_last := least(v_place.head, v_pos + p_scan);
    if v_last > v_pos then
        insert into command_runs (command_id, thread_id, message_id, user_id, event_id, due_at, is_refused)
        select c.id, m.thread_id, m.id, m.sender_id, 'evt_0_' || (
                select l.epoch from log_epochs l where l.first_pos <= e.pos order by l.epoch desc limit 1) || '_' || e.pos,
            p_now, (select count(*) >= p_waiting_max or count(*) filter (where r.user_id = m.sender_id) >= p_waiting_max / 4
                from command_runs r where r.command_id = c.id)
        from events e
        cross join lateral (select x.* from messages x where x.thread_id = e.thread_id and x.seq between e.seq and e.seq
            order by x.seq limit 1) m
        cross join lateral (select command_word(message_sent(m) ->> 'text') as word offset 0) w
        cross join lateral (select x.* from commands x where x.word = w.word limit 1) c
        cross join lateral (select x.* from users x where x.id = m.sender_id limit 1) u
        where e.pos > v_pos and e.pos <= v_last and e.type = 'message.created' and e.user_id is null
            and m.type = 'message' and w.word is not null
            and c.is_enabled and c.since_pos < e.pos and (c.thread_id is null or c.thread_id = m.thread_id)
            and u.is_bot is null and u.erased_at is null
        on conflict do nothing;
    end if;
    if v_last > v_state.pos or v_place.state <> 'kept' or v_place.epoch <> v_state.epoch then
        update command_state s set epoch = v_place.epoch, pos = greatest(v_last, v_pos);
    end if;
end $$;

-- Returns: the word with which a text begins, if the text ends or has a white space after it; otherwise null.
create or replace function command_word(p_text text) returns text
language sql immutable parallel safe as $$
    select case when starts_with(p_text, '/') then substring(p_text from '^(/[a-z0-9_-]{1,32})(?:[\s\u00a0\u3000]|$)') end
$$;

-- Returns: what follows a command's word in a text, without the white space at its beginning and end.
create or replace function command_arguments(p_text text) returns text
language sql immutable parallel safe as $$
    select regexp_replace(p_text, '^/[a-z0-9_-]{1,32}[\s\u00a0\u3000]*|[\s\u00a0\u3000]+$', '', 'g')
$$;
