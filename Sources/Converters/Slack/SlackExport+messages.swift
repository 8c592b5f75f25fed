// Messages of Slack (docs.slack.dev, "message event").
import Domain

extension SlackExport {
    /// Subtypes whose text people wrote. All others are about the channel.
    private static let carriedSubtypes: Set<String> = [
        "bot_message", "me_message", "thread_broadcast", "reply_broadcast", "file_share", "file_comment",
        "file_mention", "slackbot_response", "reminder_add", "assistant_app_thread", "document_mention",
    ]

    func convert(_ message: JSONValue, in conversation: inout SlackConversation, place: String) throws {
        guard message.text("type") ?? "message" == "message" else {
            return builder.report.leaveOut("entries of the type \(message.text("type") ?? "")", place)
        }
        if let subtype = message.text("subtype"), !Self.carriedSubtypes.contains(subtype) {
            return builder.report.leaveOut("messages of the subtype \(subtype)", place)
        }
        guard let ts = message.text("ts"), let time = Timestamp(decimalSeconds: ts) else {
            throw ConversionError(file: place, "a message without ts, or with one that is no time")
        }
        guard let sender = try sender(of: message) else {
            return builder.report.leaveOut("messages without a sender", place)
        }
        let source = "\(conversation.id)/\(ts)"
        guard !conversation.carried.contains(builder.ids.message(source)) else {
            return builder.report.leaveOut("messages that are in the export twice: the second", place)
        }
        let (text, mentions) = try text(of: message, place: place)
        let converted = SourceMessage(
            source: source, sender: sender, text: text, createdAt: time, editedAt: message["edited"]?["ts"]?.seconds,
            replyTo: replyTarget(of: message, ts, in: conversation, place: place), mentions: mentions,
            reactions: try reactions(of: message, place: place),
            files: files(of: message, in: conversation, place: place))
        if let id = try builder.add(converted, to: conversation.thread, place: place) {
            conversation.carried.insert(id)
        }
    }

    private func sender(of message: JSONValue) throws -> UserID? {
        let profile = message["user_profile"]
        if let user = message.text("user") ?? message["comment"]?.text("user") {
            return try builder.person(user, name: profile?.text("display_name") ?? profile?.text("real_name"))
        }
        let name = message.text("username") ?? message["bot_profile"]?.text("name")
        guard let bot = message.text("bot_id") ?? name.map({ "bot:" + $0 }) else { return nil }
        return try builder.person(bot, name: name ?? "Bot", isBot: true)
    }

    private func replyTarget(
        of message: JSONValue, _ ts: String, in conversation: SlackConversation, place: String
    ) -> MessageID? {
        guard let parent = message.text("thread_ts"), parent != ts else { return nil }
        let id = builder.ids.message("\(conversation.id)/\(parent)")
        if conversation.carried.contains(id) { return id }
        builder.reportLostReply(place)
        return nil
    }

    private func reactions(of message: JSONValue, place: String) throws -> [SourceReaction] {
        var reactions: [SourceReaction] = []
        for reaction in message.list("reactions") {
            let users = reaction.list("users").compactMap(\.string)
            guard let name = reaction.text("name"), let emoji = EmojiText.emoji(named: name) else {
                builder.report.leaveOut(
                    "reactions with an emoji that Parley does not know", ":\(reaction.text("name") ?? ""): \(place)",
                    count: max(1, users.count))
                continue
            }
            for user in users { reactions.append(SourceReaction(emoji: emoji, user: try builder.person(user))) }
            if let count = reaction["count"]?.integer, count > users.count {
                builder.report.leaveOut(
                    "reactions of people whom the export does not name", place,
                    count: Int(clamping: count) - users.count)
            }
        }
        return reactions
    }

    private func files(of message: JSONValue, in conversation: SlackConversation, place: String) -> [SourceFile] {
        let entries = message.list("files") + (message["file"].map { [$0] } ?? [])
        return entries.compactMap { file in
            guard let id = file.text("id"), let name = file.text("name") ?? file.text("title") else {
                builder.report.leaveOut("deleted files, and files that Slack hides", place)
                return nil
            }
            // Addresses of exports end in a token that opens every file.
            let address = file.text("permalink") ?? file.text("url_private")
            return SourceFile(
                source: id, name: name, mediaType: file.text("mimetype"),
                path: path(of: id, ArchiveBuilder.name(name), in: conversation.folder),
                url: address.map { String($0.prefix { $0 != "?" }) })
        }
    }

    /// Returns where programs that complete exports put the bytes (slackdump).
    private func path(of id: String, _ name: String, in directory: String) -> String? {
        ["__uploads/\(id)/\(name)", "\(directory)/attachments/\(id)-\(name)"].first {
            (try? folder.file($0)) != nil
        }
    }
}
