// Messages of Matrix (spec.matrix.org, "Instant messaging").
import Domain

extension MatrixExport {
    /// Events that the first reading has dealt with.
    private static let known: Set<String> = ["m.room.member", "m.room.create", "m.room.name", "m.reaction"]

    func addEvent(_ event: JSONValue, to room: inout MatrixRoom, place: String) throws {
        guard let type = event.text("type") else { return }
        switch type {
        case "m.room.message": try addMessage(event, to: &room, place)
        case "m.room.encrypted":
            builder.report.leaveOut("encrypted messages: the export has no keys", place)
        case "m.room.redaction": builder.report.leaveOut("deletions: the marks of deleted messages", place)
        default:
            guard !Self.known.contains(type) else { return }
            builder.report.leaveOut("events of the type \(type)", place)
        }
    }

    private func addMessage(_ event: JSONValue, to room: inout MatrixRoom, _ place: String) throws {
        guard let id = event.text("event_id"), let sender = event.text("sender"), let thread = room.thread,
            let time = event["origin_server_ts"]?.milliseconds
        else { throw ConversionError("\(place): a message without event_id") }
        let relation = event["content"]?["m.relates_to"] ?? .null
        if relation.text("rel_type") == "m.replace" {
            return builder.report.change("edits: only the last version", place)
        }
        let edit = room.edits.removeValue(forKey: id).flatMap { $0.sender == sender ? $0 : nil }
        guard let content = content(of: event, edit, isRedacted: room.redacted.contains(id), place) else { return }
        var message = SourceMessage(
            source: "\(room.source)/\(id)", sender: builder.ids.user(sender),
            text: MatrixText.plain(content, isReply: relation["m.in_reply_to"] != nil), createdAt: time)
        message.editedAt = edit?.time
        message.mentions = (content["m.mentions"]?.list("user_ids") ?? []).compactMap(\.string).map(builder.ids.user)
        message.files = file(of: content, id, folder: room.file).map { [$0] } ?? []
        message.replyTo = builder.replyTarget(MatrixRoom.parent(relation), among: room.parents, place)
        message.reactions = reactions(room.reactions.removeValue(forKey: id) ?? [], place)
        let written = try builder.add(message, to: thread, place: place)
        if let written, room.parents[id] != nil { room.parents[id] = written }
    }

    /// What the message says now. Nil if nothing of it is left.
    private func content(
        of event: JSONValue, _ edit: MatrixRoom.Edit?, isRedacted: Bool, _ place: String
    ) -> JSONValue? {
        let content = edit?.content ?? event["content"] ?? .null
        if isRedacted || event["unsigned"]?["redacted_because"] != nil || content.text("msgtype") == nil {
            builder.report.leaveOut("deleted messages", place)
            return nil
        }
        if content.text("msgtype") == "m.bad.encrypted" {
            builder.report.leaveOut("encrypted messages: the export has no keys", place)
            return nil
        }
        return content
    }

    private func reactions(_ reactions: [MatrixRoom.Reaction], _ place: String) -> [SourceReaction] {
        reactions.compactMap { reaction in
            guard let emoji = try? Emoji(text: reaction.key) else {
                builder.report.leaveOut(
                    "reactions with an emoji that Parley does not know", "\(reaction.key): \(place)")
                return nil
            }
            return SourceReaction(emoji: emoji, user: builder.ids.user(reaction.sender), createdAt: reaction.time)
        }
    }

    private func file(of content: JSONValue, _ id: String, folder path: String) -> SourceFile? {
        let types: Set = ["m.image", "m.video", "m.audio", "m.file"]
        guard let type = content.text("msgtype"), types.contains(type) else { return nil }
        let name = content.text("filename") ?? content.text("body") ?? "file"
        let root = path.contains("/") ? String(path.prefix { $0 != "/" }) + "/" : ""
        return SourceFile(
            source: id, name: name, mediaType: content["info"]?.text("mimetype"),
            path: exported(name, type, in: root), url: content.text("url") ?? content["file"]?.text("url"))
    }

    /// Element names files by their names and the time zone's time: `images/cat-2026-1-2 at 10-00-00.png`. Nil unless
    /// one file alone fits.
    private func exported(_ name: String, _ type: String, in root: String) -> String? {
        let folders = ["m.image": "images", "m.video": "videos", "m.audio": "audio"]
        let directory = root + (folders[type] ?? "files")
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        let (stem, ending) = (name[..<dot] + "-", name[dot...])
        let names = ((try? folder.names(in: directory)) ?? []).filter { $0.hasPrefix(stem) && $0.hasSuffix(ending) }
        return names.count == 1 ? "\(directory)/\(names[0])" : nil
    }
}

/// The texts of messages of Matrix.
enum MatrixText {
    static func plain(_ content: JSONValue, isReply: Bool) -> String {
        let body = content.text("body") ?? ""
        switch content.text("msgtype") {
        case "m.emote": return "/me " + body
        case "m.location": return [body, content.text("geo_uri")].compactMap { $0 }.joined(separator: "\n")
        // The body of a file is its name, or a caption if the name is given apart.
        case "m.image", "m.video", "m.audio", "m.file":
            return content.text("filename").map { $0 == body ? "" : body } ?? ""
        default: return isReply ? withoutQuotation(body) : body
        }
    }

    /// Replies began with a quotation until version 1.13 of the specification: lines with `> `, then an empty line.
    private static func withoutQuotation(_ body: String) -> String {
        guard body.hasPrefix("> <") else { return body }
        let lines = body.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.drop { $0.hasPrefix("> ") || $0 == ">" }.drop { $0.isEmpty }.joined(separator: "\n")
    }
}
