// Messages of Rocket.Chat.
import Domain

extension RocketChatExport {
    /// Types whose text people wrote. All others are about the room.
    private static let carriedTypes: Set<String> = ["discussion-created", "videoconf"]

    func addMessage(_ message: JSONValue, place: String) throws {
        guard let id = message.mongoID("_id"), let room = message.text("rid"), let user = message["u"] else {
            throw ConversionError("\(place): a message without _id, rid or u")
        }
        guard let time = message.mongoDate("ts") else {
            throw ConversionError("\(place): a message without ts, or with one that is no time")
        }
        guard let thread = rooms[room] else {
            let reason = leftOutRooms[room] ?? "messages in rooms that the export does not describe"
            return builder.report.leaveOut(reason, place)
        }
        guard isCarried(message, place) else { return }
        guard let sender = user.mongoID("_id") else { throw ConversionError("\(place): a message without u._id") }
        reportMarks(message, place)
        var converted = SourceMessage(
            source: id, sender: try builder.person(sender, name: user.text("name") ?? user.text("username")),
            text: EmojiText.replacingNames(in: text(of: message)), createdAt: time)
        converted.editedAt = message.mongoDate("editedAt")
        converted.mentions = mentions(in: message)
        converted.reactions = try reactions(of: message, place)
        converted.files = files(of: message)
        // The message that starts the thread. Both programs write messages in the order in which they were stored.
        converted.replyTo = builder.replyTarget(message.text("tmid"), among: parents, place)
        let written = try builder.add(converted, to: thread, place: place)
        if let written, parents[id] != nil { parents[id] = written }
    }

    private func isCarried(_ message: JSONValue, _ place: String) -> Bool {
        if message.isTrue("_hidden") {
            builder.report.leaveOut("earlier versions of edited and deleted messages", place)
            return false
        }
        guard let type = message.text("t"), !Self.carriedTypes.contains(type) else { return true }
        builder.report.leaveOut(
            type == "e2e" ? "encrypted messages: the server has no keys" : "messages of the type \(type)", place)
        return false
    }

    private func reportMarks(_ message: JSONValue, _ place: String) {
        if message.isTrue("pinned") { builder.report.leaveOut("pinned messages: the pins", place) }
        builder.report.leaveOut("starred messages: the marks", place, count: message.list("starred").count)
    }

    /// The message, and the texts of attachments that integrations write. Attachments of files are the files.
    private func text(of message: JSONValue) -> String {
        let attachments = message.list("attachments").flatMap { attachment -> [String] in
            // A quotation of another message, whose address is in the text.
            if attachment.text("message_link") != nil { return [] }
            let isFile = attachment.text("type") == "file"
            let title = attachment.text("title").map { title in
                attachment.text("title_link").map { "\(title) (\($0))" } ?? title
            }
            let parts = [
                isFile ? nil : attachment.text("pretext"), isFile ? nil : title, attachment.text("text"),
                attachment.text("description"),
            ]
            let fields = attachment.list("fields").map { field in
                [field.text("title"), field.text("value")].compactMap { $0 }.joined(separator: ": ")
            }
            return parts.compactMap { $0 } + fields
        }
        return ([message.text("msg")].compactMap { $0 } + attachments).joined(separator: "\n")
    }

    private func mentions(in message: JSONValue) -> [UserID] {
        message.list("mentions").compactMap { mention in
            guard let id = mention.mongoID("_id"), id != "all", id != "here" else { return nil }
            let user = builder.ids.user(id)
            return builder.people[user] == nil ? nil : user
        }
    }

    private func reactions(of message: JSONValue, _ place: String) throws -> [SourceReaction] {
        var reactions: [SourceReaction] = []
        for reaction in message["reactions"]?.object ?? [] {
            let usernames = reaction.value.list("usernames").compactMap(\.string)
            guard let emoji = EmojiText.emoji(named: reaction.key) else {
                builder.report.leaveOut(
                    "reactions with an emoji that Parley does not know", "\(reaction.key) \(place)",
                    count: max(1, usernames.count))
                continue
            }
            for username in usernames {
                guard let id = idsByUsername[username] else {
                    builder.report.leaveOut("reactions of people whom the export does not describe", username)
                    continue
                }
                reactions.append(SourceReaction(emoji: emoji, user: try builder.person(id)))
            }
        }
        return reactions
    }

    /// The bytes are in GridFS or on a disk, not in these collections.
    private func files(of message: JSONValue) -> [SourceFile] {
        let list = message.list("files").isEmpty ? [message["file"]].compactMap { $0 } : message.list("files")
        return list.filter { $0.text("typeGroup") != "thumb" }.compactMap { file in
            guard let id = file.mongoID("_id"), let name = file.text("name") else { return nil }
            let link = message.list("attachments").compactMap { $0.text("title_link") }.first { $0.contains(id) }
            return SourceFile(
                source: id, name: name, mediaType: file.text("type"), path: nil,
                url: link ?? "/file-upload/\(id)/\(name)")
        }
    }
}
