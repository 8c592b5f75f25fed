// The settings of messages and threads: sizes, how long they are kept, and how they are found.
internal import Domain

extension SettingGroup {
    static let messages = SettingGroup(
        "Messages and threads",
        [
            Setting(
                "text_bytes_max", \.limits.textByteCountMax, .integer(1...524_288), "BYTES",
                "maximum length of a message's text, in bytes of UTF-8"),
            Setting(
                "payload_bytes_max", \.limits.payloadByteCountMax, .integer(1...524_288), "BYTES",
                "maximum size of a message's payload, in bytes of JSON; at least the maximum text length"),
            Setting(
                "title_characters_max", \.limits.titleCharacterCountMax, .integer(1...1_000), "COUNT",
                "maximum length of a thread's title, in characters"),
            Setting(
                "group_members_max", \.limits.groupMemberCountMax, .integer(2...100_000), "COUNT",
                "maximum members of a group"),
            Setting(
                "room_members_max", \.limits.roomMemberCountMax, .integer(2...10_000_000), "COUNT",
                "maximum members of a room"),
            Setting(
                "account_threads_max", \.limits.accountThreadCountMax, .integer(1...1_000_000), "COUNT",
                "maximum threads that an account has joined or is invited to"),
            Setting(
                "strangers", \.limits.strangers, .word, "join|invite",
                "when a caller adds people who share no direct thread and no group with the caller: join: they become "
                    + "members at once; invite: they are invited"),
        ])

    static let capacity = SettingGroup(
        "Capacity of a node",
        [
            Setting(
                "account_reads_max", \.accountReadCountMax, .integer(1...1_000), "COUNT",
                "maximum reads of one account in progress on a node; more wait up to 1 s, then get 429; keep it below "
                    + "half of the database connections"),
            Setting(
                "session_polls_max", \.sessionPollCountMax, .integer(1...10_000), "COUNT",
                "maximum waiting polls and streams of one session on a node; a new one ends the oldest without events"),
            Setting(
                "account_polls_max", \.accountPollCountMax, .integer(1...100_000), "COUNT",
                "maximum waiting polls and streams of all sessions of an account on a node"),
        ])

    static let retention = SettingGroup(
        "Retention",
        [
            Setting(
                "log_days", \.logDays, .integer(1...3_650), "DAYS",
                "keep events in the log for this many days; a client that returns later reloads its threads; messages "
                    + "are kept"),
            Setting(
                "device_silent_days", \.deviceSilentDays, .integer(1...3_650), "DAYS",
                "in threads that keep messages until delivery: wait this many days for a device that is not used"),
            Setting(
                "retention_max", \.limits.retentionMaxS, .integer(0...315_360_000), "SECONDS",
                "longest time for which a thread may keep messages, in seconds (31536000 is a year); older messages "
                    + "are deleted, earlier ones too; 0: no limit"),
            Setting(
                "retention_default", \.limits.retentionDefaultS, .integer(0...315_360_000), "SECONDS",
                "time for which a new thread keeps messages, in seconds, if its creator sets none; 0: as long as "
                    + "allowed"),
            Setting(
                "edit_history", \.showsEdits, .onOrOff, "on|off",
                "on: members may read the earlier versions of a message, as long as its content is kept"),
        ])

    static let search = SettingGroup(
        "Search",
        [
            Setting(
                "search_configuration", \.searchConfiguration, .name, "NAME",
                "PostgreSQL text search configuration, the same on all nodes; simple: words as written; english, "
                    + "german, …: words by their stems. A change indexes all messages again"),
            Setting(
                "account_searches_max", \.limits.accountSearchCountMax, .integer(1...100), "COUNT",
                "maximum searches of one account in progress on a node; four more wait, the next gets 429"),
            Setting(
                "search_timeout_ms", \.limits.searchTimeoutMs, .integer(50...2_500), "MS",
                "a search returns what it has found after this time; the next page continues from there"),
        ])
}
