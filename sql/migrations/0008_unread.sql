-- The explicit way back: a read mark of the member's own, behind the one that others see.
-- locks: members (access exclusive), for an instant
-- length: milliseconds
-- breaking: no

alter table members
    -- For its member a thread is read up to `back_to_seq`, as long as the mark that others see is `back_from_seq`.
    -- Whatever moves that one on (a receipt, a message of one's own, joining again) ends it without a write.
    add column back_to_seq bigint,
    add column back_from_seq bigint;
