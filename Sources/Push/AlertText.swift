// The text that a locked screen shows: no more than the account's preference allows, and no more than fits.
import Domain

/// A title line and the body under it.
struct AlertText: Equatable {
    /// The most of a name or title. They are shorter unless the limits were raised.
    private static let nameByteCountMax = 512

    /// The sender or the thread; nil if the preference hides both.
    var title: String?
    var body: String

    init(title: String?, body: String) {
        self.title = title
        self.body = body
    }

    /// The whole text, of any length.
    init(_ message: PushMessage) {
        let sender = message.senderName.cut(byteCountMax: Self.nameByteCountMax)
        let place = message.title?.cut(byteCountMax: Self.nameByteCountMax)
        switch message.privacy {
        case .none: (title, body) = (nil, Self.something)
        case .senderOnly: (title, body) = Self.attributed(Self.something, by: sender, in: place)
        case .full: (title, body) = Self.attributed(Self.content(of: message), by: sender, in: place)
        }
    }

    private static let something = "New message"

    /// The thread's title above and the sender before the text, or without a title the sender above. An erased sender
    /// has no name.
    private static func attributed(_ what: String, by sender: String, in place: String?) -> (
        title: String?, body: String
    ) {
        switch (place, sender) {
        case (let place, ""): (place, what)
        case (let place?, let sender): (place, "\(sender): \(what)")
        case (nil, let sender): (sender, what)
        }
    }

    private static func content(of message: PushMessage) -> String {
        switch message.type {
        // The host app's server sends system messages, too.
        case "message", "system": message.text ?? something
        case "location": "Location"
        // Only the app can show it: it is encrypted, or of a type of the app's own.
        default: something
        }
    }

    /// Returns the JSON that `write` makes of the text, in at most `byteCountMax` bytes. The body is cut to fit.
    func json(byteCountMax: Int, _ write: (AlertText) -> JSONValue) -> [UInt8] {
        var text = self
        text.body = ""
        let aroundByteCount = JSONText(write(text)).utf8.count
        text.body = body.cut(byteCountMax: byteCountMax - aroundByteCount, as: JSONWriter.byteCount)
        return JSONText(write(text)).utf8
    }
}

extension String {
    /// Returns as many visible characters as fit, with an ellipsis at the end if some didn't. Reads no further than the
    /// cut, however long the text is.
    ///
    /// - Parameter byteCount: the cost of a character.
    fileprivate func cut(byteCountMax: Int, as byteCount: (Character) -> Int = { $0.utf8.count }) -> String {
        let ellipsis: Character = "…"
        var sum = 0
        /// The last place at which the ellipsis fits, too.
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
    /// The length of a character in a JSON string.
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
