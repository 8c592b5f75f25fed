-- What earlier versions left in a database: functions whose arguments, columns or names changed. Applied first, in the
-- same transaction as all other functions, so no call ever meets two versions of one function, or none. A call that
-- leaves out an argument with a default is ambiguous while a version with fewer arguments exists, and `create or
-- replace` cannot change the columns of a result. Therefore each such change adds a line here. Parley has no release
-- yet, and databases of every development version exist. The first release deletes this file's lines; after that, a
-- line stays until the next release.

drop function if exists user_get(uuid);
drop function if exists user_search(text, int, bigint, uuid);
drop function if exists account_delegate(text, uuid, text, text, text[], text, uuid, bytea, text);
drop function if exists admin_session_create(text, text, uuid, uuid, bytea, text);
drop function if exists admin_user_create(text, text, uuid, text, text, text, text[], text);
drop function if exists account_audience(uuid);
drop function if exists erasure_log(erasures, int);
drop function if exists erasure_event(text, text, uuid);
drop function if exists account_json(users);
drop function if exists message_json(uuid, bigint, uuid, uuid, text, text, text, json, uuid, uuid[], timestamptz,
    timestamptz, timestamptz, timestamptz);
drop function if exists log_announce(bigint);
drop function if exists log_open_epoch(bigint);
drop function if exists log_turn();
drop function if exists log_read(bigint, int);
drop function if exists log_read(bigint, int, bool);
drop function if exists mail_code_use(text, text, uuid, uuid, bytea, text, timestamptz);
drop function if exists member_put(uuid, uuid, uuid, text, text, int, int);
drop function if exists message_append(uuid[], uuid[], uuid[], text[], json[], uuid[], text[], timestamptz);
drop function if exists message_append(uuid[], uuid[], uuid[], text[], json[], uuid[], text[], bigint[], timestamptz);
drop function if exists message_append(
    uuid[], uuid[], uuid[], text[], json[], uuid[], text[], bigint[], text, timestamptz);
drop function if exists message_append(
    uuid[], uuid[], uuid[], text[], json[], uuid[], text[], bigint[], text, timestamptz, int[]);
drop function if exists message_edit(uuid, uuid, uuid, json);
drop function if exists message_view(messages);
drop function if exists receipt_json(members, bigint);
drop function if exists receipt_log(bigint, timestamptz, members[], boolean[], boolean[]);
drop function if exists receipt_put(uuid[], uuid[], bigint[], bigint[]);
drop function if exists receipt_put(uuid[], uuid[], bigint[], bigint[], uuid[]);
drop function if exists message_receipts(uuid, uuid, uuid);
drop function if exists receipt_deliver(uuid[], uuid[], bigint[]);
drop function if exists room_join(uuid, uuid, text, text, int);
drop function if exists room_join(uuid, uuid, text, text, int, int);
drop function if exists message_search(uuid, uuid, text, int, bigint, uuid);
drop function if exists search_indexed(members, text[], int, bigint, uuid);
drop function if exists search_unindexed(members, text, text[], int, bigint, uuid, bigint, bigint);
drop function if exists search_seq_after(uuid, bigint);
drop function if exists search_index(int);
drop function if exists search_index_backlog(text, int);
drop function if exists session_create(uuid, uuid, bytea, text);
drop function if exists session_find(bytea);
drop function if exists thread_create(uuid, text, text, text, uuid, uuid[], boolean);
drop function if exists thread_create(uuid, text, text, text, uuid, uuid[], boolean, int);
drop function if exists thread_reopen(uuid, uuid);
drop function if exists thread_created_data(threads);
drop function if exists thread_created_data(threads, boolean);
drop function if exists thread_created_data(threads, members);
drop function if exists thread_update(uuid, uuid, json, text);
drop function if exists member_view(members);
drop function if exists unread_count(uuid, bigint, bigint);
drop function if exists mention_count(uuid, uuid, bigint);
drop function if exists me_json(members, bigint);
drop function if exists thread_shown(threads, members);
drop function if exists thread_shown(threads, members, bigint, bigint, bigint, timestamptz, bigint);
drop function if exists thread_view(threads, members);
drop function if exists room_list(text, int, bigint, uuid);
drop function if exists member_log(bigint, timestamptz, threads, members, text);
drop function if exists message_bury(messages[], timestamptz);
drop function if exists session_end(uuid[]);
drop function if exists message_bury(messages[], timestamptz, uuid);
drop function if exists message_withdraw(messages[], timestamptz);
drop function if exists receipt_log(bigint, timestamptz, members[], boolean[], boolean[], members[]);
drop function if exists receipt_announce(timestamptz, members[], boolean[], boolean[], members[]);
drop function if exists audit_note(text, text, text, uuid, uuid, uuid);
drop function if exists webhook_tend(text, uuid[], int, int, timestamptz);
drop function if exists webhook_settle(uuid, bigint, int, bigint, bigint[], text[], int[], int[], bigint[], text[], uuid[],
    bigint[], int[], int[], int[], text[], bigint[], bigint[], boolean, int, int);
drop function if exists push_skip(push_state);
drop function if exists command_settle(uuid, uuid, uuid, int, uuid, json, boolean);

-- Until 2026-11-23 these functions had other names.
drop function if exists push_place(push_state);
drop function if exists push_pass(push_state);
drop function if exists push_part(push_state, int, timestamptz);
drop function if exists push_member(uuid, uuid);
drop function if exists push_meaning(text, timestamptz, uuid, uuid, uuid, text);
drop function if exists push_seq(timestamptz, members, bigint, uuid, bigint, boolean);
drop function if exists push_tell(bigint, bigint, uuid[], uuid[], boolean, timestamptz, timestamptz);
drop function if exists push_resume(push_state, int, timestamptz, timestamptz);
drop function if exists push_put(push_jobs[], timestamptz, uuid[]);
drop function if exists push_make(int, int, int, timestamptz);
drop function if exists presence_beat(text, timestamptz);
drop function if exists device_poll_beat(text, bigint, timestamptz);
drop function if exists receipt_tell(uuid[], timestamptz);

-- The same, for functions that nodes call: nodes of the previous version call them until a rolling upgrade is complete.
create or replace function push_make(p_limit int, p_life_s int, p_delay_ms int, out pos bigint, out made int, out more boolean)
language sql volatile as $$
    select * from push_plan(p_limit, p_life_s, p_delay_ms)
$$;
create or replace function presence_beat(p_node text) returns bigint
language sql volatile as $$
    select presence_heartbeat(p_node)
$$;
create or replace function device_poll_beat(p_node text, p_pos bigint) returns boolean
language sql volatile as $$
    select device_poll_heartbeat(p_node, p_pos)
$$;
create or replace function receipt_tell(p_threads uuid[]) returns table (thread_id uuid)
language sql volatile as $$
    select * from receipt_publish(p_threads)
$$;
drop function if exists attachment_put_thumbnail(uuid, uuid, bytea, text, bytea);
drop function if exists attachment_claim(uuid, int, int);
