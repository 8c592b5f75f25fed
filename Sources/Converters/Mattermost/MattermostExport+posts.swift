// Posts, replies and direct messages of Mattermost.
import Domain

extension MattermostExport {
    func addPosts(_ type: String, _ value: JSONValue, place: String) throws {
        switch type {
        case "post":
            let key = "\(value.text("team") ?? "")/\(value.text("channel") ?? "")"
            guard let thread = channels[key]?.thread else {
                return builder.report.leaveOut("posts in channels that the export does not list", "\(key), \(place)")
            }
            try addPost(value, channel: key, thread, place: place)
        case "direct_channel": _ = try addDirect(members(value), createdAt: builder.unknownCreatedAt)
        case "direct_post":
            let names = value.list("channel_members").compactMap(\.string)
            guard !names.isEmpty else { throw ConversionError("\(place): a direct post without channel_members") }
            let time = value["create_at"]?.milliseconds ?? builder.unknownCreatedAt
            let thread = try addDirect(names, createdAt: time)
            try addPost(value, channel: Self.directKey(names), thread, place: place)
        default: break
        }
    }

    private func members(_ channel: JSONValue) -> [String] {
        let names = channel.list("members").compactMap(\.string)
        return names.isEmpty ? channel.list("participants").compactMap { $0.text("username") } : names
    }

    private static func directKey(_ names: [String]) -> String {
        "direct:" + names.withoutRepeats.sorted().joined(separator: ",")
    }

    private func addDirect(_ names: [String], createdAt: Timestamp) throws -> ThreadID {
        let users = try names.map { try builder.person($0) }
        return try builder.addConversation(users, source: Self.directKey(names), createdAt: createdAt)
    }

    /// A post with its replies.
    private func addPost(_ post: JSONValue, channel: String, _ thread: ThreadID, place: String) throws {
        let parent = try add(post, channel: channel, thread, replyTo: nil, reply: "", place: place)
        for (index, reply) in post.list("replies").enumerated() {
            let replyPlace = "\(place), replies[\(index)]"
            if parent == nil { builder.reportLostReply(replyPlace) }
            try add(reply, channel: channel, thread, replyTo: parent, reply: "/reply", place: replyPlace)
        }
    }

    @discardableResult
    private func add(
        _ post: JSONValue, channel: String, _ thread: ThreadID, replyTo: MessageID?, reply: String, place: String
    ) throws -> MessageID? {
        guard let user = post.text("user"), let time = post["create_at"]?.milliseconds else {
            throw ConversionError("\(place): a post without user or create_at")
        }
        if let type = post.text("type"), type != "me", !type.hasPrefix("custom_") {
            builder.report.leaveOut("messages of the type \(type)", place)
            return nil
        }
        if post.isTrue("is_pinned") { builder.report.leaveOut("pinned messages: the pins", place) }
        builder.report.leaveOut("marks of saved messages", place, count: post.list("flagged_by").count)
        let text = texts(post).joined(separator: "\n")
        return try builder.add(
            SourceMessage(
                source: source(channel, user, time, reply: reply), sender: try builder.person(user),
                text: EmojiText.replacingNames(in: text), createdAt: time,
                editedAt: post["edit_at"]?.milliseconds, replyTo: replyTo, mentions: mentions(in: text),
                reactions: try reactions(of: post, place: place), files: files(of: post)),
            to: thread, place: place)
    }

    /// The message, and the texts of attachments that integrations write.
    private func texts(_ post: JSONValue) -> [String] {
        let attachments = (post["props"]?.list("attachments") ?? []).flatMap { attachment in
            let lines = ["pretext", "title", "text"].compactMap { attachment.text($0) }
            return lines.isEmpty ? [attachment.text("fallback")].compactMap { $0 } : lines
        }
        return [post.text("message")].compactMap { $0 } + attachments
    }

    /// People whose usernames follow an @.
    private func mentions(in text: String) -> [UserID] {
        text.split(separator: "@", omittingEmptySubsequences: false).dropFirst().compactMap { rest in
            let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }.lowercased()
            let bare = String(name.reversed().drop { "._-".contains($0) }.reversed())
            return [name, bare].map(builder.ids.user).first { builder.people[$0] != nil }
        }
    }

    private func reactions(of post: JSONValue, place: String) throws -> [SourceReaction] {
        try post.list("reactions").compactMap { reaction in
            guard let user = reaction.text("user"), let name = reaction.text("emoji_name") else {
                throw ConversionError("\(place): a reaction without user or emoji_name")
            }
            guard let emoji = EmojiText.emoji(named: name) else {
                builder.report.leaveOut("reactions with an emoji that Parley does not know", ":\(name): \(place)")
                return nil
            }
            return SourceReaction(
                emoji: emoji, user: try builder.person(user), createdAt: reaction["create_at"]?.milliseconds)
        }
    }

    private func files(of post: JSONValue) -> [SourceFile] {
        post.list("attachments").compactMap { $0.text("path") }.map { path in
            // In exports, paths are relative to data/. In import files of other tools, they are relative to the file.
            let inData = "data/" + path
            let isInData = (try? folder.file(inData)) != nil
            return SourceFile(source: path, name: ArchiveBuilder.name(path), path: isInData ? inData : path)
        }
    }
}
