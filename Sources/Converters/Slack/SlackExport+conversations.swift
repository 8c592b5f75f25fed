// Channels, private channels, group messages and direct messages of Slack.
import Domain

extension SlackExport {
    /// Converts a conversation with its messages. Returns the name of its folder.
    func convert(_ channel: JSONValue, _ kind: ThreadKind, _ file: String, place: String) throws -> String {
        guard let id = channel.text("id") else {
            throw ConversionError(file: file, place: place, "a conversation without id")
        }
        let name = channel.text("name") ?? id
        let thread = try addThread(channel, id, name, kind, isUntitled: file == "mpims.json")
        reportSettings(channel, name)
        let directory = try folder.isDirectory(name) ? name : id
        let days = try folder.names(in: directory).filter {
            $0.hasSuffix(".json") && $0 != "canvas_in_the_conversation.json"
        }
        var conversation = SlackConversation(id: id, thread: thread, folder: directory)
        for day in days {
            let path = "\(directory)/\(day)"
            try builder.read(path) { try convert($0.value, in: &conversation, place: "\(path), \($0.place)") }
        }
        return directory
    }

    private func addThread(
        _ channel: JSONValue, _ id: String, _ name: String, _ kind: ThreadKind, isUntitled: Bool
    ) throws -> ThreadID {
        let createdAt = channel["created"]?.seconds ?? builder.unknownCreatedAt
        let members = try channel.list("members").compactMap(\.string).map { try builder.person($0) }
        if kind == .direct { return try builder.addConversation(members, source: id, createdAt: createdAt) }
        let creator = channel.text("creator").map(builder.ids.user)
        return try builder.add(
            SourceThread(
                source: id, kind: kind, title: isUntitled ? nil : name,
                topic: builder.topic(
                    of: name,
                    [
                        ("channels' topics", try text(ofSetting: "topic", of: channel)),
                        ("channels' purposes", try text(ofSetting: "purpose", of: channel)),
                    ]), createdAt: createdAt,
                members: members.map { SourceMember(user: $0, role: $0 == creator ? .owner : .member) },
                isArchived: channel.isTrue("is_archived")))
    }

    private func reportSettings(_ channel: JSONValue, _ name: String) {
        builder.report.leaveOut("pinned messages: the pins", name, count: channel.list("pins").count)
        if channel["properties"]?["tabs"] != nil || channel["properties"]?["canvas"] != nil {
            builder.report.leaveOut("channels' tabs and canvases", name)
        }
    }
}

/// The conversation whose messages are being read.
struct SlackConversation {
    let id: String
    let thread: ThreadID
    /// The folder of the export with its messages.
    let folder: String
    /// The messages that are written, so that replies never name one that is missing.
    var carried: Set<MessageID> = []
}
