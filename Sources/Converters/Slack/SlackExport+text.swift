// The text of Slack's messages: markup, attachments and blocks as plain text.
import Domain

extension SlackExport {
    /// The text as people read it, and the people whom it mentions.
    func text(of message: JSONValue, place: String) throws -> (String, [UserID]) {
        var parts = [message.text("text") ?? ""] + attachments(of: message, place: place)
        parts.removeAll(where: \.isEmpty)
        if parts.isEmpty {
            let blocks = Self.strings(in: message["blocks"] ?? .null).joined(separator: "\n")
            if !blocks.isEmpty {
                builder.report.change("messages of blocks without text: the blocks' texts", place)
                parts = [blocks]
            }
        }
        if message.text("subtype") == "me_message", let first = parts.first { parts[0] = "/me " + first }
        var mentions: [UserID] = []
        let texts = try parts.map { try plain($0, &mentions) }
        return (texts.joined(separator: "\n"), mentions)
    }

    /// The topic or the purpose of a channel as people read it.
    func text(ofSetting key: String, of channel: JSONValue) throws -> String? {
        var mentions: [UserID] = []
        return try channel[key]?.text("value").map { try plain($0, &mentions) }
    }

    private func plain(_ text: String, _ mentions: inout [UserID]) throws -> String {
        EmojiText.replacingNames(in: SlackText.plain(try named(text, &mentions)))
    }

    /// Pretext, title, text and fields, a line each. Previews of linked pages are left out.
    private func attachments(of message: JSONValue, place: String) -> [String] {
        message.list("attachments").compactMap { attachment in
            if attachment.text("from_url") != nil || attachment.text("original_url") != nil {
                builder.report.leaveOut("previews of linked pages", place)
                return nil
            }
            let title = attachment.text("title").map { title in
                attachment.text("title_link").map { "\(title) (\($0))" } ?? title
            }
            let fields = attachment.list("fields").map { field in
                [field.text("title"), field.text("value")].compactMap { $0 }.joined(separator: ": ")
            }
            let lines = [attachment.text("pretext"), title, attachment.text("text")].compactMap { $0 } + fields
            return lines.isEmpty ? attachment.text("fallback") : lines.joined(separator: "\n")
        }
    }

    /// All texts in blocks, in their order.
    private static func strings(in value: JSONValue) -> [String] {
        switch value {
        case .array(let items): items.flatMap(strings)
        case .object(let members):
            members.flatMap { member in
                if let text = member.value.string { return member.key == "text" && !text.isEmpty ? [text] : [] }
                return strings(in: member.value)
            }
        default: []
        }
    }

    /// The text with names in `<@U…>` and `<#C…>`, which Slack writes as ids.
    private func named(_ text: String, _ mentions: inout [UserID]) throws -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "<") {
            result += rest[..<start.lowerBound]
            rest = rest[start.upperBound...]
            let inside = rest.prefix { $0 != ">" && $0 != "<" && !$0.isNewline }
            guard inside.endIndex < rest.endIndex, rest[inside.endIndex] == ">", let name = try name(inside, &mentions)
            else {
                result += "<"
                continue
            }
            result += "<\(inside.prefix { $0 != "|" })|\(Self.escaped(name))>"
            rest = rest[rest.index(after: inside.endIndex)...]
        }
        return result + rest
    }

    /// The name of `@U123` or `#C123`; nil for other markup, and for a name that the text has.
    private func name(_ markup: Substring, _ mentions: inout [UserID]) throws -> String? {
        let id = String(markup.dropFirst().prefix { $0 != "|" })
        switch markup.first {
        case "@" where !id.isEmpty:
            let user = try builder.person(id)
            mentions.append(user)
            return builder.people[user]?.name
        case "#" where !markup.contains("|") || markup.hasSuffix("|"): return channelNames[id] ?? id
        default: return nil
        }
    }

    private static func escaped(_ name: String) -> String {
        name.reduce(into: "") { text, character in
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            default: text.append(character)
            }
        }
    }
}
