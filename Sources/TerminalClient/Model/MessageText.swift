// Messages in words.
import Foundation
import ParleyClient

enum MessageText {
    /// One line for the inbox, a search or a quotation, with the sender's name where it is not clear. Clean.
    static func summary(_ message: Message, me: UserID?, isDirect: Bool) -> String {
        let text = PlainText.line(body(message))
        guard let sender = message.sender, !message.isDeleted else { return text }
        if sender.id == me { return "You: \(text)" }
        return isDirect ? text : "\(sender.shownName): \(text)"
    }

    /// What the message says, in several lines. Clean.
    static func body(_ message: Message) -> String {
        if message.isDeleted { return "This message was deleted." }
        guard let payload = message.payload else { return "This message is no longer kept." }
        switch payload {
        case .text(let payload):
            if let text = payload.text, !text.isEmpty { return PlainText.lines(text) }
            let files = payload.attachments ?? []
            return files.isEmpty ? "" : files.count == 1 ? describe(files[0]) : "\(files.count) files"
        case .location(let place):
            let label = place.label.map { " (\(PlainText.line($0)))" } ?? ""
            return "Location: \(place.latitude), \(place.longitude)\(label)"
        case .encrypted: return "An encrypted message, which this client cannot read."
        case .system(let payload): return system(payload)
        case .other(let value):
            if let text = value["text"]?.string { return PlainText.lines(text) }
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
