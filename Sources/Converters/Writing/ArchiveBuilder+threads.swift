// Lines for threads and members.
import Domain

extension ArchiveBuilder {
    /// Writes the lines of a room or group and its members, unless they are written. Returns the id.
    @discardableResult
    func add(_ thread: SourceThread) throws -> ThreadID {
        let id = ids.thread(thread.source)
        guard threads[id] == nil else { return id }
        let title = thread.title.flatMap { thread.kind == .room ? roomTitle($0) : groupTitle($0) }
        let kind = thread.kind == .room && title == nil ? ThreadKind.group : thread.kind
        let topic = thread.topic.flatMap(acceptedTopic)
        try lines.append("thread", heading(id, kind, title, thread.createdAt) + [.text("topic", topic)])
        try write(thread.members, of: id, isArchived: thread.isArchived)
        threads[id] = BuiltThread(kind: kind, members: Set(thread.members.map(\.user)))
        if !thread.members.contains(where: { $0.role == .owner }) {
            report.change("threads without an owner in the export: no member is owner", title ?? thread.source)
        }
        if thread.isArchived { report.change("archived channels: archived for each member", title ?? thread.source) }
        return id
    }

    /// The direct thread of two people, a group of any other number. Written once.
    func addConversation(_ users: [UserID], source: String, createdAt: Timestamp) throws -> ThreadID {
        let users = users.withoutRepeats
        guard users.count == 2 else { return try addUntitled(users, source: source, createdAt: createdAt) }
        let id = ids.direct(users[0], users[1])
        guard threads[id] == nil else { return id }
        let pair = JSONValue.array(users.map { .string($0.description) })
        try lines.append("thread", heading(id, .direct, nil, createdAt) + [.init("user_ids", pair)])
        try write(users.map { SourceMember(user: $0) }, of: id, isArchived: false)
        threads[id] = BuiltThread(kind: .direct, members: Set(users))
        return id
    }

    private func addUntitled(_ users: [UserID], source: String, createdAt: Timestamp) throws -> ThreadID {
        let isKnown = threads[ids.thread(source)] != nil
        if !isKnown, users.count == 1 {
            report.change(
                "conversations with oneself: groups of one", users.first.flatMap { people[$0]?.name } ?? source)
        }
        let members = users.map { SourceMember(user: $0, role: users.count == 1 ? .owner : .member) }
        return try add(
            SourceThread(
                source: source, kind: .group, title: users.count == 1 ? "Notes" : nil, createdAt: createdAt,
                members: members))
    }

    private func heading(
        _ id: ThreadID, _ kind: ThreadKind, _ title: String?, _ createdAt: Timestamp
    ) -> [JSONValue.Member?] {
        [
            .init("id", .string(id.description)), .init("kind", .string(kind.rawValue)), .text("title", title),
            .init("created_at", .string(createdAt.description)),
        ]
    }

    private func write(_ members: [SourceMember], of thread: ThreadID, isArchived: Bool) throws {
        var seen: Set<UserID> = []
        for member in members where seen.insert(member.user).inserted {
            try lines.append(
                "member",
                [
                    .init("thread_id", .string(thread.description)), .init("user_id", .string(member.user.description)),
                    .init("role", .string(member.role.rawValue)),
                    .init("status", .string(MemberStatus.joined.rawValue)),
                    isArchived ? .init("archived", .bool(true)) : nil,
                ])
        }
    }

    /// People who wrote in a thread and left it before the export.
    func writeFormerMembers() throws {
        for (thread, built) in threads.sorted(by: { $0.key < $1.key }) {
            for user in built.former.sorted() {
                try lines.append(
                    "member",
                    [
                        .init("thread_id", .string(thread.description)), .init("user_id", .string(user.description)),
                        .init("role", .string(MemberRole.member.rawValue)),
                        .init("status", .string(MemberStatus.left.rawValue)),
                    ])
            }
        }
    }

    /// Returns the first text as the topic of a thread. The others are left out, each with its reason.
    func topic(of thread: String, _ texts: [(reason: String, text: String?)]) -> String? {
        var topic: String?
        for case (let reason, let text?) in texts where !text.isEmpty {
            if topic == nil { topic = text } else { report.leaveOut(reason, "\(thread): \(text)") }
        }
        return topic
    }

    /// A topic is one line.
    private func acceptedTopic(_ text: String) -> String? {
        if let topic = try? Topic(text: text) { return topic.text }
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ").showable.trimmed.unicodeScalars
            .prefix(Topic.characterCountMax)
        let topic = try? Topic(text: String(line).trimmed)
        report.change("topics that Parley does not accept, shortened or cleaned", text)
        return topic?.text
    }

    private func groupTitle(_ text: String) -> String? {
        let limit = limits.titleCharacterCountMax
        if let title = try? Title(text: text, characterCountMax: limit) { return title.text }
        let line = String(text.showable.trimmed.unicodeScalars.prefix(limit))
        report.change("titles that Parley does not accept, shortened or cleaned", text)
        return (try? Title(text: line, characterCountMax: limit))?.text
    }

    /// Titles of rooms are unique, whatever the case.
    private func roomTitle(_ text: String) -> String? {
        guard let base = groupTitle(text) else { return nil }
        let suffix = roomSuffix ?? ""
        for number in 1...1_000_000 {
            let ending = suffix + (number == 1 ? "" : " \(number)")
            let room = String(base.unicodeScalars.prefix(limits.titleCharacterCountMax - ending.unicodeScalars.count))
            guard let title = try? Title(text: room + ending, characterCountMax: limits.titleCharacterCountMax) else {
                return nil
            }
            if roomTitles.insert(title.key).inserted {
                if number > 1 { report.change("rooms with a number, because another has the title", title.text) }
                return title.text
            }
        }
        return nil
    }
}
