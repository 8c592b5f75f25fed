// Messages, reactions and files of Zulip.
import Domain

extension ZulipExport {
    func addMessage(_ message: JSONValue, _ place: String) throws {
        let id = try Self.id(message, "id", place)
        let sender = try builder.person(String(try Self.id(message, "sender", place)))
        let recipient = try Self.id(message, "recipient", place)
        guard let time = message["date_sent"]?.seconds else {
            throw ConversionError("\(place): a message without date_sent, or with one that is no time")
        }
        guard let thread = try thread(of: recipient, sender, time, place) else { return }
        let topic = recipients[recipient]?.kind == .channel ? message.text("subject") : nil
        var converted = SourceMessage(source: String(id), sender: sender, text: "", createdAt: time)
        let content = ZulipText.parsed(message.text("content") ?? "")
        converted.files = content.uploads.map { file(of: $0) }
        converted.text = heading(topic, in: recipient) + EmojiText.replacingNames(in: content.text)
        converted.mentions = content.people.compactMap { mentioned($0) }
        converted.editedAt = message["last_edit_time"]?.seconds
        converted.reactions = reactions.removeValue(forKey: id) ?? []
        converted.extra = topic.map { [.init("topic", .string($0))] } ?? []
        if message.text("content") == nil { converted.text = "" }
        try builder.add(converted, to: thread, place: place)
    }

    private func thread(of id: Int64, _ sender: UserID, _ time: Timestamp, _ place: String) throws -> ThreadID? {
        guard let recipient = recipients[id] else {
            throw ConversionError("\(place): no row of zerver_recipient in realm.json has the id \(id)")
        }
        if recipient.kind == .person {
            let receiver = try builder.person(String(recipient.target))
            let pair = [sender, receiver].sorted()
            let source = "person:\(pair[0])/\(pair[1])"
            return try builder.addConversation(pair, source: source, createdAt: time)
        }
        if recipient.thread == nil {
            builder.report.leaveOut("messages to channels and groups that the export does not describe", place)
        }
        return recipient.thread
    }

    /// A line with the topic where it differs from the topic of the message before.
    private func heading(_ topic: String?, in recipient: Int64) -> String {
        guard let topic, topics[recipient] != topic else { return "" }
        topics[recipient] = topic
        builder.report.change("topics: a line of text where the topic changes", topic)
        return "**\(topic)**\n"
    }

    /// By `Name|17`, or by a name that only one user has.
    private func mentioned(_ name: String) -> UserID? {
        let parts = name.split(separator: "|")
        if parts.count == 2, Int64(parts[1]) != nil {
            let user = builder.ids.user(String(parts[1]))
            return builder.people[user] == nil ? nil : user
        }
        return usersByName[name] ?? nil
    }

    func readReaction(_ row: JSONValue, _ place: String) throws {
        let emoji =
            row.text("reaction_type") == "unicode_emoji" || row.text("reaction_type") == nil
            ? row.text("emoji_code").flatMap(EmojiText.emoji(codePoints:)) : nil
        guard let emoji else {
            let name = row.text("emoji_name") ?? ""
            return builder.report.leaveOut(
                "reactions with an emoji that Parley does not know", ":\(name): \(place)")
        }
        let user = try builder.person(String(try Self.id(row, "user_profile", place)))
        reactions[try Self.id(row, "message", place), default: []].append(SourceReaction(emoji: emoji, user: user))
    }

    func readFiles() throws {
        guard try folder.file("attachment.json") != nil else { return }
        try builder.read("attachment.json", wants: { $0 == "zerver_attachment" }) { item in
            guard let path = item.value.text("path_id") else {
                throw ConversionError("attachment.json, \(item.place): a file without path_id")
            }
            files[path] = SourceFile(
                source: path, name: item.value.text("file_name") ?? ArchiveBuilder.name(path),
                mediaType: item.value.text("content_type"), path: "uploads/" + path, url: "/user_uploads/" + path)
        }
    }

    private func file(of path: String) -> SourceFile {
        files[path]
            ?? SourceFile(
                source: path, name: ArchiveBuilder.name(path), path: "uploads/" + path, url: "/user_uploads/" + path)
    }
}
