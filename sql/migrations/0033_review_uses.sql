-- Messages that the policy holds have a kind of use of their own: legal holds have `held`.
-- locks: attachment_uses, attachments (access exclusive)
-- length: about a second a million uses
-- breaking: no

-- review: a message that the policy holds. holder_id is the id of its row in held_messages. Its sender sees an
-- attachment by such a use.
alter table attachment_uses drop constraint attachment_uses_kind_check;
update attachment_uses u set kind = 'review'
where u.kind = 'held' and u.seq = 0 and exists (select from held_messages h where h.id = u.holder_id);
alter table attachment_uses add constraint attachment_uses_kind_check
    check (kind in ('message', 'thread', 'profile', 'review', 'held'));
-- Attachments that only a message under review has were hidden, as those that only legal holds have.
update attachments a set state = 2, stored_bytes = a.size + coalesce(a.thumbnail_size, 0)
where a.state = 5 and exists (select from attachment_uses u where u.attachment_id = a.id and u.kind = 'review');
