-- Invitations know when they were made and by whom; threads of any size find who concerns them.
-- locks: members (access exclusive for an instant, then writers wait while the indexes are built)
-- length: about two seconds a million members
-- breaking: no

alter table members
    -- Of the last invitation; null for those who were added.
    add column invited_at timestamptz,
    add column invited_by uuid;

-- A page of the members, owners and admins, the eldest of them: none costs a walk through all that a room has or had.
create index members_present on members (thread_id, role, user_id) where status in ('joined', 'invited');
create index members_invited on members (thread_id, user_id) where status = 'invited';
