// The tables of the local store. A migration never changes once it is released; a new one is added.
internal import GRDB

enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { try $0.execute(sql: first) }
        migrator.registerMigration("2") { try $0.execute(sql: senders) }
        return migrator
    }

    /// Finds the messages that a new name or picture changes. Costs 8 MB for 100,000 messages of 68 MB; without it, a new
    /// profile of somebody in their thread took 450 ms.
    private static let senders = """
        alter table message add column sender text generated always as (json_extract(data, '$.sender.id')) virtual;
        create index message_sender on message (thread_id, sender);
        """

    /// `data` is JSON as the server sent it, with fields that this version does not know. The other columns are what
    /// queries need. `version` grows with each transaction: a list reads only rows whose version is new to it.
    private static let first = """
        -- One value a key: cursor, account, blocked, session, version.
        create table device (key text primary key, value text not null) without rowid;

        create table thread (
            id text primary key,
            data text not null,                    -- as in the inbox, without last_message and presence
            counted integer not null,              -- counts include messages up to this seq, see the client guide
            version integer not null,
            activity text generated always as (json_extract(data, '$.last_activity_at')) virtual,
            unread integer generated always as (json_extract(data, '$.unread_count')) virtual
        ) without rowid;
        create index thread_activity on thread (activity desc, id desc);
        create index thread_unread on thread (unread);

        -- Threads that an event named and that no page of the inbox had. The client loads them.
        create table missing_thread (id text primary key) without rowid;

        -- Threads whose newest message the device does not have. The client loads it.
        create table missing_newest (id text primary key) without rowid;

        create table message (
            number integer primary key,
            thread_id text not null,
            seq integer not null,
            id text not null,
            data text not null,                    -- as in the history
            words text,                            -- what search finds
            version integer not null,
            unique (thread_id, seq)
        );
        create index message_id on message (id);

        -- Ranges of a thread that were fetched. They neither touch nor overlap. A seq in a range without a message is
        -- one that the user does not see.
        create table span (
            thread_id text not null,
            first integer not null,
            last integer not null,
            primary key (thread_id, first)
        ) without rowid;

        -- Complete lists of members, where the app asked for them.
        create table member_list (thread_id text primary key) without rowid;
        create table member (
            thread_id text not null,
            user_id text not null,
            data text not null,
            version integer not null,
            primary key (thread_id, user_id)
        ) without rowid;

        -- Messages that the server has not confirmed, oldest first in each thread.
        create table outbox (
            number integer primary key autoincrement,
            id text not null unique,               -- the message's id
            thread_id text not null,
            body text not null,                    -- JSON of the request
            files text not null,                   -- JSON, the attachments and where their bytes are
            state text not null,                   -- queued, failed, pending
            failure text,                          -- JSON of the refusal
            created_at text not null,
            version integer not null
        );
        create index outbox_thread on outbox (thread_id, number);

        -- Read marks that the server has not confirmed, or whose event has not arrived.
        create table mark (
            thread_id text primary key,
            read_seq integer not null,
            confirmed integer                      -- the number of the poll after which the event must have arrived
        ) without rowid;

        create table draft (thread_id text primary key, text text not null) without rowid;

        create virtual table message_words using fts5(
            words, content='message', content_rowid='number', tokenize='unicode61 remove_diacritics 2', prefix='2 3');
        create trigger message_words_insert after insert on message when new.words is not null begin
            insert into message_words (rowid, words) values (new.number, new.words);
        end;
        create trigger message_words_delete after delete on message when old.words is not null begin
            insert into message_words (message_words, rowid, words) values ('delete', old.number, old.words);
        end;
        create trigger message_words_update after update of words on message when old.words is not new.words begin
            insert into message_words (message_words, rowid, words)
                select 'delete', old.number, old.words where old.words is not null;
            insert into message_words (rowid, words) select new.number, new.words where new.words is not null;
        end;
        """
}
