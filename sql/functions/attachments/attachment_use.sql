-- What uses attachments: messages, and the pictures of profiles and threads. Whoever adds a use and whoever deletes one
-- lock the attachment, so that exactly one of "used once more" and "not used any more" happens.

-- Deletes those of the attachments that nothing uses any more, and hides those that only legal holds use: these have no
-- part in their owner's quota. The others count for an account that uses them (attachment_pass). Call it after deleting
-- uses.
-- Locks: the attachments by id
-- Costs: an index probe or two for each use of an attachment, up to 100
create or replace function attachment_settle(p_ids uuid[]) returns void
language plpgsql volatile as $$
begin
    perform from attachments a where a.id = any (p_ids) order by a.id for no key update;
    -- In a separate statement, which sees the uses that previous holders of the locks added or deleted.
    perform attachment_bury(array(select i.id from unnest(p_ids) i (id)
        where (select u.kind from attachment_uses u where u.attachment_id = i.id limit 1) is null));
    update attachments a set state = 5, due_at = null, stored_bytes = 0
    where a.id = any (p_ids) and a.state = 2
        and not exists (select from attachment_uses u where u.attachment_id = a.id and u.kind <> 'held');
    perform attachment_pass(i.id) from unnest(p_ids) i (id);
end $$;

-- Returns: whose use it is, and since when: of a message the sender's, of a profile its user's. Null for a thread's
-- picture, which stays the owner's.
create or replace function attachment_user(u attachment_uses, out user_id uuid, out at timestamptz)
language plpgsql stable as $$
begin
    case u.kind
    when 'message' then
        select m.sender_id, m.created_at into user_id, at from messages m
        where m.thread_id = u.holder_id and m.seq between u.seq and u.seq order by m.seq limit 1;
    when 'review' then
        select r.sender_id, r.created_at into user_id, at from reviews r where r.id = u.holder_id;
    when 'profile' then
        user_id := u.holder_id;
    else
    end case;
end $$;

-- Makes the sender of the oldest message with a ready attachment its owner if its owner does not use it any more.
-- Otherwise those who forward a file could fill the quota of an account that cannot delete it. Looks at 100 uses at
-- most: among so many forwarded ones, a use of the owner's may be missed.
-- Locks: the caller holds the attachment
create or replace function attachment_pass(p_id uuid) returns void
language plpgsql volatile as $$
declare
    v_owner uuid := (select a.owner_id from attachments a where a.id = p_id and a.state = 2);
    v_users uuid[];
begin
    if v_owner is not null then
        select array_agg(coalesce(x.user_id, v_owner) order by x.at) into v_users
        from (select * from attachment_uses u where u.attachment_id = p_id and u.kind <> 'held' limit 100) u
        cross join lateral attachment_user(u::attachment_uses) x;
        if not v_owner = any (v_users) then
            update attachments a set owner_id = v_users[1] where a.id = p_id;
        end if;
    end if;
end $$;

-- Deletes the uses of a profile's or thread's picture when `p_old` becomes `p_new`, and adds the new one's. Values that
-- are no attachments have none.
-- Fails: PY422 (`p_field`: not a ready picture that `p_user` uploaded).
-- Locks: the attachments by id; the caller holds the user or thread
create or replace function attachment_use_picture(
    p_kind text, p_holder uuid, p_user uuid, p_old text, p_new text, p_field text) returns void
language plpgsql volatile as $$
declare
    v_old uuid := case when p_old like 'attachment:%' then substr(p_old, 12)::uuid end;
    v_new uuid := case when p_new like 'attachment:%' then substr(p_new, 12)::uuid end;
begin
    if v_old is not distinct from v_new then
        return;
    end if;
    perform from attachments a where a.id in (v_old, v_new) order by a.id for no key update;
    if v_new is not null then
        update attachments a set due_at = null
        where a.id = v_new and a.owner_id = p_user and a.state = 2 and a.media_type like 'image/%';
        if not found then
            perform refuse(422, 'invalid',
                'Must be the id of a picture that you uploaded and whose state is ready.', p_field);
        end if;
        insert into attachment_uses (attachment_id, kind, holder_id) values (v_new, p_kind, p_holder);
    end if;
    if v_old is not null then
        delete from attachment_uses u
        where u.attachment_id = v_old and u.kind = p_kind and u.holder_id = p_holder and u.seq = 0;
        perform attachment_settle(array[v_old]);
    end if;
end $$;

-- Deletes an erased account's unused attachments and unfinished uploads, and the use of its picture. Files in messages
-- go with the messages.
-- Locks: the attachments by id; the caller holds the user
create or replace function attachment_forget_account(p_user uuid) returns void
language plpgsql volatile as $$
declare
    v_picture uuid;
begin
    delete from attachment_uses u where u.holder_id = p_user and u.seq = 0 and u.kind = 'profile'
    returning u.attachment_id into v_picture;
    perform attachment_bury(array(
        select a.id from attachments a where a.owner_id = p_user and a.due_at is not null and a.state < 4));
    if v_picture is not null then
        perform attachment_settle(array[v_picture]);
    end if;
end $$;
