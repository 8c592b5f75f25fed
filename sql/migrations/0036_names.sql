-- One name for one thing. Messages that the policy sends to a moderator are reviews: held is what legal holds keep. The
-- number that refuses what an earlier node or request writes is a claim.
-- locks: policy_verdicts, the table of reviews, attachments, webhook_states, command_runs (access exclusive)
-- length: milliseconds, and a second for a million verdicts
-- breaking: yes

-- Functions of these names are not replaced, and some return a row of the table.
do $$
declare
    v_function regprocedure;
begin
    for v_function in select p.oid from pg_proc p
        where p.pronamespace = current_schema()::regnamespace and p.proname in ('held_json', 'held_admin_json', 'held_create',
            'held_use', 'held_release', 'held_drop', 'held_list', 'held_lock', 'held_put', 'held_append', 'held_reason',
            'held_refuse', 'held_count', 'policy_find', 'policy_outcome', 'policy_record', 'attachment_append',
            'attachment_begin', 'attachment_finish', 'attachment_flush', 'attachment_refuse_turn',
            'attachment_resume', 'attachment_undo', 'command_put_off', 'command_settle', 'command_step',
            'webhook_open', 'webhook_read', 'webhook_release', 'webhook_settle', 'webhook_tend')
    loop
        execute format('drop function %s', v_function);
    end loop;
end $$;

alter table held_messages rename to reviews;
alter table reviews rename column held_at to created_at;
alter index held_messages_pkey rename to reviews_pkey;
alter table reviews rename constraint held_messages_state_check to reviews_state_check;
alter index held_messages_by_state rename to reviews_by_state;
alter index held_messages_by_message rename to reviews_by_message;
alter index held_messages_pending rename to reviews_pending;
alter index held_messages_by_sender rename to reviews_by_sender;
alter index held_messages_by_decision rename to reviews_by_decision;

alter table policy_verdicts drop constraint policy_verdicts_action_check;
update policy_verdicts v set action = 'review' where v.action = 'hold';
alter table policy_verdicts add constraint policy_verdicts_action_check
    check (action in ('allow', 'deny', 'rewrite', 'review'));

update audit a set action = 'review' || substr(a.action, 5) where a.action in ('held.approve', 'held.refuse');

-- A number names the request that appends while an upload is unfinished, later the node that checks or moves the file.
update attachments a set claim = a.turn where a.state = 0;
alter table attachments drop column turn;
alter sequence attachment_turns rename to attachment_claims;
-- The lease. A node that writes with an older claim is refused.
alter table webhook_states rename column turn to claim;
-- Counts the claims. A node that settles with an older claim is refused.
alter table command_runs rename column turn to claim;
