// Messages in words.
import Foundation
import Parley

enum MessageText {
    /// One line for the inbox, a search or a quotation, with the sender's name where it is not clear. Clean.
    static func summary(_ message: Message, me: UserID?, isDirect: Bool) -> String {
        let text = line(message)
        guard let sender = message.sender, !message.isDeleted else { return text }
        if sender.id == me { return "You: \(text)" }
        return isDirect ? text : "\(sender.shownName): \(text)"
    }

    /// What the message says, in one line that is longer than any terminal. Clean.
    static func line(_ message: Message) -> String {
        let text = String(body(message).prefix(500))
        return PlainText.line(isText(message) ? Marks.plain(text) : text)
    }

    /// Whether `body` shows only the beginning unless it is asked for all.
    static func isLong(_ message: Message) -> Bool { text(message).map { PlainText.beginning($0) != $0 } ?? false }

    /// The words in a message, of any type.
    private static func text(_ message: Message) -> String? {
        guard !message.isDeleted, let payload = message.payload else { return nil }
        return switch payload {
        case .text(let payload): payload.text
        case .other(let value): value["text"]?.string
        case .location, .encrypted, .system: nil
        }
    }

    /// What the message says, in several lines: of a long text the beginning, unless `isWhole`. Clean.
    static func body(_ message: Message, isWhole: Bool = false) -> String {
        func shown(_ text: String) -> String { PlainText.lines(isWhole ? text : String(PlainText.beginning(text))) }
        if message.isDeleted { return "This message was deleted." }
        guard let payload = message.payload else { return "This message is no longer kept." }
        switch payload {
        case .text(let payload):
            if let text = payload.text, !text.isEmpty { return shown(text) }
            let files = payload.attachments ?? []
            return files.isEmpty ? "" : files.count == 1 ? describe(files[0]) : "\(files.count) files"
        case .location(let place):
            let label = place.label.map { " (\(PlainText.line($0)))" } ?? ""
            return "Location: \(place.latitude), \(place.longitude)\(label)"
        case .encrypted: return "An encrypted message, which this client cannot read."
        case .system(let payload): return system(payload)
        case .other(let value):
            if let text = value["text"]?.string { return shown(text) }
            return "A message of type \(PlainText.line(message.type.rawValue)), which this client cannot show."
        }
    }

    /// Whether `body` is the user's own words, not a description of them.
    static func isText(_ message: Message) -> Bool {
        !message.isDeleted && message.text.map { !$0.isEmpty } ?? false
    }

    /// "[picture] beach.jpg, 300 KB". Clean.
    static func describe(_ attachment: Attachment) -> String {
        let kind = attachment.width != nil ? "picture" : "file"
        return "[\(kind)] \(PlainText.line(attachment.name)), \(shownSize(attachment.size))"
    }

    private static func system(_ payload: SystemPayload) -> String {
        let actor = Sender.shown(payload.by.name)
        let person = payload.user.map { Sender.shown($0.name) } ?? "somebody"
        switch payload.action {
        case .joined: return "\(actor) joined"
        case .added: return "\(actor) added \(person)"
        case .left: return "\(actor) left"
        case .removed: return "\(actor) removed \(person)"
        case .renamed: return "\(actor) changed the title to \"\(PlainText.line(payload.title ?? ""))\""
        default: return ""
        }
    }
}
