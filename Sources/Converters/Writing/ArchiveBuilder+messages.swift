// Lines for messages and reactions. Messages that are too long for Parley become several.
import Domain

extension ArchiveBuilder {
    /// Writes a message, its files and its reactions. Returns its id; nil if nothing of it could be carried over.
    /// - Parameter place: where it is in the export, for the report.
    @discardableResult
    func add(_ message: SourceMessage, to thread: ThreadID, place: String) throws -> MessageID? {
        var text = message.text
        var files: [AttachmentID] = []
        for file in message.files {
            if let id = try add(file, owner: message.sender, createdAt: message.createdAt) {
                files.append(id)
            } else {
                text += (text.isEmpty ? "" : "\n") + Self.mentionOf(file)
            }
        }
        guard !text.trimmed.isEmpty || !files.isEmpty else {
            report.leaveOut("messages without text and files", place)
            return nil
        }
        noteSender(message.sender, in: thread)
        try write(message, text, files.withoutRepeats, in: thread, place: place)
        let id = ids.message(message.source)
        try write(message.reactions, to: id, in: thread, at: message.createdAt, place: place)
        return id
    }

    private static func mentionOf(_ file: SourceFile) -> String {
        let url = file.url ?? ""
        return "[\(file.name)]" + (url.isEmpty ? "" : " \(url)")
    }

    private func noteSender(_ sender: UserID, in thread: ThreadID) {
        guard let built = threads[thread], built.kind != .direct, !built.members.contains(sender) else { return }
        threads[thread]?.former.insert(sender)
    }

    private func write(
        _ message: SourceMessage, _ text: String, _ files: [AttachmentID], in thread: ThreadID, place: String
    ) throws {
        let texts = TextParts.split(text, byteCountMax: limits.textByteCountMax)
        let fileGroups = stride(from: 0, to: files.count, by: AttachmentSizes.messageCountMax).map {
            Array(files[$0..<min($0 + AttachmentSizes.messageCountMax, files.count)])
        }
        let count = max(texts.count, fileGroups.count, 1)
        if count > 1 { report.change("messages that are too long, in several parts", "\(place): \(count) parts") }
        for index in 0..<count {
            let payload = payload(
                index < texts.count ? texts[index] : "", index < fileGroups.count ? fileGroups[index] : [],
                message.extra)
            try write(message, part: index, payload, mentions(of: message, in: thread, place), in: thread)
        }
    }

    private func payload(_ text: String, _ files: [AttachmentID], _ extra: [JSONValue.Member]) -> JSONValue {
        let list = files.map { JSONValue.object([.init("id", .string($0.description))]) }
        return .object(
            (text.isEmpty ? [] : [.init("text", .string(text))]) + extra
                + (list.isEmpty ? [] : [.init("attachments", .array(list))]))
    }

    /// Parts after the first have ids of their own, and neither a reply nor mentions.
    private func write(
        _ message: SourceMessage, part: Int, _ payload: JSONValue, _ mentions: [UserID], in thread: ThreadID
    ) throws {
        let isFirst = part == 0
        let id = ids.message(isFirst ? message.source : "\(message.source)#\(part + 1)")
        try lines.append(
            "message",
            [
                .init("id", .string(id.description)), .init("thread_id", .string(thread.description)),
                .init("sender_id", .string(message.sender.description)), .init("type", .string("message")),
                .init("payload", payload), isFirst ? .text("reply_to", message.replyTo) : nil,
                isFirst && !mentions.isEmpty
                    ? .init("mentions", .array(mentions.map { .string($0.description) })) : nil,
                .init("created_at", .string(message.createdAt.description)),
                .text("edited_at", message.editedAt.map { max($0, message.createdAt) }),
            ])
    }

    /// Those who are members, as Parley requires.
    private func mentions(of message: SourceMessage, in thread: ThreadID, _ place: String) -> [UserID] {
        let members = threads[thread]?.members ?? []
        let named = message.mentions.withoutRepeats
        let mentions = named.filter(members.contains).prefix(MessageDraft.mentionCountMax)
        if mentions.count < named.count {
            report.change(
                "mentions of people who are no members, and those past \(MessageDraft.mentionCountMax): text only",
                place, count: named.count - mentions.count)
        }
        return Array(mentions)
    }

    private func write(
        _ reactions: [SourceReaction], to message: MessageID, in thread: ThreadID, at: Timestamp, place: String
    ) throws {
        var emoji: Set<Emoji> = []
        var seen: Set<ReactionKey> = []
        for reaction in reactions {
            guard emoji.contains(reaction.emoji) || emoji.count < Emoji.countMaxPerMessage else {
                report.leaveOut("reactions past \(Emoji.countMaxPerMessage) different emoji of a message", place)
                continue
            }
            emoji.insert(reaction.emoji)
            // Two names may be one emoji.
            guard seen.insert(ReactionKey(emoji: reaction.emoji, user: reaction.user)).inserted else { continue }
            try lines.append(
                "reaction",
                [
                    .init("thread_id", .string(thread.description)), .init("message_id", .string(message.description)),
                    .init("user_id", .string(reaction.user.description)),
                    .init("emoji", .string(reaction.emoji.text)),
                    .init("created_at", .string((reaction.createdAt ?? at).description)),
                ])
        }
    }
}

private struct ReactionKey: Hashable {
    var emoji: Emoji
    var user: UserID
}
