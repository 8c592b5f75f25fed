-- Named consumers of the changes feed, whose cursors are kept here.

-- Returns: a consumer, its cursor, and how far it is behind the log.
--   lag_events   events of the log after the cursor, those included that integrations do not see
--   lag_ms       since the oldest of them was written; 0 without any
--   expired      the log no longer has all of what follows the cursor. The lag is that of what it still has
-- Costs: a few index probes
create or replace function consumer_view(c change_consumers) returns table (
    name text, epoch int, pos bigint, created_at timestamptz, moved_at timestamptz, lag_events bigint, lag_ms bigint,
    expired boolean)
language plpgsql stable as $$
declare
    v_place record;
    v_from bigint := c.pos;
begin
    select * into v_place from log_place(c.epoch, c.pos);
    if v_place.state <> 'kept' then
        v_from := change_resume(c.epoch, v_place.state, v_place.epoch_end, v_place.head);
    end if;
    return query select c.name, c.epoch, c.pos, c.created_at, c.moved_at, v_place.head - v_from,
        coalesce((select greatest(0, extract(epoch from clock_timestamp() - e.at) * 1000)::bigint
            from events e where e.pos > v_from order by e.pos limit 1), 0),
        v_place.state <> 'kept';
end $$;

-- Returns: a page of the consumers, the oldest first, with their ids.
create or replace function consumer_list(p_limit int, p_after_id uuid default null) returns table (
    name text, epoch int, pos bigint, created_at timestamptz, moved_at timestamptz, lag_events bigint, lag_ms bigint,
    expired boolean, id uuid)
language sql stable as $$
    select v.*, c.id
    from (select x.id, x as consumer from change_consumers x where p_after_id is null or x.id > p_after_id
        order by x.id limit p_limit) c
    cross join lateral consumer_view(c.consumer) v
    order by c.id
$$;

-- Returns: the consumer of that name; no row without one.
create or replace function consumer_get(p_name text) returns table (
    name text, epoch int, pos bigint, created_at timestamptz, moved_at timestamptz, lag_events bigint, lag_ms bigint,
    expired boolean)
language plpgsql stable as $$
begin
    return query select v.* from change_consumers c cross join lateral consumer_view(c) v where c.name = p_name;
end $$;

-- Sets the cursor of a consumer, forward or back, or makes the consumer. With nulls for the cursor: at the log's head,
-- and only if there is no such consumer.
-- Returns: `outcome`, and for the first three the consumer:
--   created | moved | same
--   expired   the log no longer has what follows this cursor; nothing is changed
-- Fails: PY422 too_many_consumers.
-- Locks: the consumers, so that they are counted in turn
create or replace function consumer_put(
    p_actor text, p_request text, p_admin_key uuid, p_name text, p_epoch int, p_pos bigint, p_count_max int
) returns table (outcome text, name text, epoch int, pos bigint, created_at timestamptz, moved_at timestamptz,
    lag_events bigint, lag_ms bigint, expired boolean)
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_old change_consumers;
begin
    perform lock_row('consumers');
    if p_pos is not null and (select l.state from log_place(p_epoch, p_pos) l) <> 'kept' then
        outcome := 'expired';
        return next;
        return;
    end if;
    select * into v_old from change_consumers c where c.name = p_name;
    if v_old.id is null then
        if (select count(*) from change_consumers) >= p_count_max then
            perform refuse(422, 'too_many_consumers',
                format('There are %s consumers already. Delete one that is not used.', p_count_max));
        end if;
        outcome := 'created';
        insert into change_consumers (id, name, epoch, pos, created_at, moved_at)
        values (uuid_v7(v_now), p_name, coalesce(p_epoch, log_epoch()), coalesce(p_pos, log_head()), v_now, v_now);
        perform audit_note(p_actor, p_request, p_admin_key, 'consumer.create', p_subject => p_name);
    elsif p_pos is null or (v_old.epoch, v_old.pos) = (p_epoch, p_pos) then
        outcome := 'same';
    else
        outcome := 'moved';
        update change_consumers c set epoch = p_epoch, pos = p_pos, moved_at = v_now where c.id = v_old.id;
        perform audit_note(p_actor, p_request, p_admin_key, 'consumer.move', p_subject => p_name);
    end if;
    return query select outcome, g.* from consumer_get(p_name) g;
end $$;

-- Records that a consumer has processed everything up to a cursor. Makes a consumer that does not exist. The same
-- cursor again changes nothing. This is not recorded as an action of an administrator, except for the making.
-- Returns: `outcome`, and the consumer except with `expired`:
--   created | moved | same
--   behind    the consumer is further already; nothing is changed
--   expired   the log has lost this place, or has trimmed what follows it; nothing is changed
-- Fails: PY422 too_many_consumers.
-- Locks: the consumer's row; as consumer_put to make one
create or replace function consumer_ack(
    p_actor text, p_request text, p_admin_key uuid, p_name text, p_epoch int, p_pos bigint, p_count_max int
) returns table (outcome text, name text, epoch int, pos bigint, created_at timestamptz, moved_at timestamptz,
    lag_events bigint, lag_ms bigint, expired boolean)
language plpgsql volatile as $$
declare
    v_old change_consumers;
begin
    select * into v_old from change_consumers c where c.name = p_name for update;
    if v_old.id is null then
        return query select * from consumer_put(p_actor, p_request, p_admin_key, p_name, p_epoch, p_pos, p_count_max);
        return;
    end if;
    outcome := case
        when (v_old.epoch, v_old.pos) = (p_epoch, p_pos) then 'same'
        when (select l.state from log_place(p_epoch, p_pos) l) <> 'kept' then 'expired'
        -- A lost place cannot be compared: what follows it has other positions.
        when p_pos <= v_old.pos and (select l.state from log_place(v_old.epoch, v_old.pos) l) = 'kept' then
            case when p_pos = v_old.pos then 'same' else 'behind' end
        else 'moved' end;
    if outcome = 'moved' then
        update change_consumers c set epoch = p_epoch, pos = p_pos, moved_at = stamp() where c.id = v_old.id;
    end if;
    return query select outcome, g.* from consumer_get(p_name) g where outcome <> 'expired'
        union all select 'expired', null, null, null, null, null, null, null, null where outcome = 'expired';
end $$;

-- Fails: PY404 consumer_not_found.
create or replace function consumer_delete(p_actor text, p_request text, p_admin_key uuid, p_name text) returns void
language plpgsql volatile as $$
begin
    delete from change_consumers c where c.name = p_name;
    if not found then
        perform refuse_unknown('consumer');
    end if;
    perform audit_note(p_actor, p_request, p_admin_key, 'consumer.delete', p_subject => p_name);
end $$;
