// How a client names the place where a page of the history begins or ends.

extension HistoryBound: TextField {
    /// A seq in digits, a message's id, or an RFC 3339 time.
    package init(text: String) throws(Invalid) {
        guard text.utf8.count <= 64 else { throw Invalid("Must be a seq, a message's id or an RFC 3339 time.") }
        if !text.isEmpty, text.utf8.allSatisfy({ (Byte.zero...Byte.nine).contains($0) }) {
            guard let seq = Int64(text) else { throw Invalid("Must be a seq below 2^63.") }
            self = .seq(Seq(seq))
        } else if let id = MessageID(parsing: text) {
            self = .message(id)
        } else if let time = Timestamp(parsing: Self.withPlus(text)) {
            self = .time(microsSince1970: time.microsSince1970)
        } else {
            throw Invalid("Must be a seq, a message's id or an RFC 3339 time.")
        }
    }

    /// Clients often leave the `+` of an offset unescaped in a query, where it means a space.
    private static func withPlus(_ text: String) -> String {
        guard let space = text.lastIndex(of: " "), text.distance(from: space, to: text.endIndex) == 6 else {
            return text
        }
        return text.replacingCharacters(at: space, with: "+")
    }
}

extension String {
    fileprivate func replacingCharacters(at index: Index, with replacement: String) -> String {
        self[..<index] + replacement + self[self.index(after: index)...]
    }
}
