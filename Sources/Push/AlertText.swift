// What people read on a locked screen: no more than the account's preference lets out, and no more than fits.
import Domain

/// A line in bold and what is under it.
struct AlertText: Equatable {
    /// Of names and titles, which come shorter than this unless the limits were raised.
    private static let nameByteCountMax = 512

    /// Who or where; nil if nobody is to know.
    var title: String?
    var body: String

    init(title: String?, body: String) {
        self.title = title
        self.body = body
    }

    /// Whole, so of any length.
    init(_ message: PushMessage) {
        let sender = message.senderName.cut(byteCountMax: Self.nameByteCountMax)
        let place = message.title?.cut(byteCountMax: Self.nameByteCountMax)
        switch message.privacy {
        case .none: (title, body) = (nil, Self.something)
        case .senderOnly: (title, body) = Self.said(Self.something, by: sender, in: place)
        case .full: (title, body) = Self.said(Self.what(message), by: sender, in: place)
        }
    }

    private static let something = "New message"

    /// The thread's title above, and then who; without one, who above. Who has left for good has no name.
    private static func said(_ what: String, by sender: String, in place: String?) -> (title: String?, body: String) {
        switch (place, sender) {
        case (let place, ""): (place, what)
        case (let place?, let sender): (place, "\(sender): \(what)")
        case (nil, let sender): (sender, what)
        }
    }

    private static func what(_ message: PushMessage) -> String {
        switch message.type {
        case "message": message.text ?? something
        case "location": "Location"
        // What is in it is for the app to say: encrypted, or a type of the app's own.
        default: something
        }
    }

    /// The JSON that `write` makes of it, in at most so many bytes: of the body as much as there is room for.
    func json(byteCountMax: Int, _ write: (AlertText) -> JSONValue) -> [UInt8] {
        var text = self
        text.body = ""
        let aroundByteCount = JSONText(write(text)).utf8.count
        text.body = body.cut(byteCountMax: byteCountMax - aroundByteCount, as: JSONWriter.byteCount)
        return JSONText(write(text)).utf8
    }
}

extension String {
    /// As many of the characters that people see as fit; the last is an ellipsis if some didn't. Looks no further than
    /// they go, however long the text is.
    /// - byteCount: what a character costs.
    fileprivate func cut(byteCountMax: Int, as byteCount: (Character) -> Int = { $0.utf8.count }) -> String {
        let ellipsis: Character = "…"
        var sum = 0
        /// Up to where there's room for the ellipsis, too.
        var safeEnd = startIndex
        for index in indices {
            sum += byteCount(self[index])
            guard sum <= byteCountMax else {
                return byteCountMax < byteCount(ellipsis) ? "" : self[..<safeEnd] + String(ellipsis)
            }
            if sum + byteCount(ellipsis) <= byteCountMax { safeEnd = self.index(after: index) }
        }
        return self
    }
}

extension JSONWriter {
    /// What a character takes in a JSON string.
    fileprivate static func byteCount(_ character: Character) -> Int {
        character.utf8.reduce(0) { sum, byte in
            switch byte {
            case 0x08, 0x09, 0x0a, 0x0c, 0x0d, 0x22, 0x5c: sum + 2
            case 0..<0x20: sum + 6
            default: sum + 1
            }
        }
    }
}
