-- Counting: a read mark of the member's own, behind the one that others see; indexes that make counts cheap.
-- locks: members (access exclusive), for an instant; then writers of messages wait while two indexes are built
-- length: some ten seconds for ten million messages
-- breaking: no

alter table members
    -- For its member a thread is read up to `back_to_seq`, as long as the mark that others see is `back_from_seq`.
    -- Whatever moves that one on (a receipt, a message of one's own, joining again) ends it without a write.
    add column back_to_seq bigint,
    add column back_from_seq bigint;

-- The inbox looks for the caller's own last message in each thread: by sender first these lie side by side, instead of on
-- a page each.
drop index messages_by_sender;
create index messages_by_sender on messages (sender_id, thread_id, seq);

-- Unread mentions are counted without a look at the messages.
drop index messages_with_mentions;
create index messages_with_mentions on messages (thread_id, seq) include (mentions, sender_id)
    where mentions <> '{}' and deleted_at is null;
