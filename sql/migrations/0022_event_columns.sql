-- What planning alerts needs to know of an event, in columns of its own. Until now it was cut out of the event's JSON.
-- locks: events and its partitions (access exclusive), for an instant
-- length: milliseconds: the columns are null in the rows that are there
-- breaking: no

-- Null in events of other types, and in all events from before this migration: functions/push/push_effect.sql reads the JSON of
-- those. They are of no use to alerts after a day, when an alert has expired.
alter table events
    -- message.created, message.deleted: the message's. receipt.updated of one member: their read mark if this event moved it,
    -- else 0. settings.updated: the first seq that the thread still shows.
    add column seq bigint,
    -- message.created: the sender; null for a system message. receipt.updated of one member: the member.
    add column actor_id uuid;
