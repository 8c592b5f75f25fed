// Cuts texts into parts of a bounded size, at line breaks or spaces where there are some.

enum TextParts {
    /// Returns the text in parts of at most `byteCountMax` bytes, each with a visible beginning. One part if it is
    /// short enough; none if it is empty.
    static func split(_ text: String, byteCountMax: Int) -> [String] {
        var parts: [String] = []
        var rest = text[...]
        while rest.utf8.count > byteCountMax {
            let part = rest.prefix(byteCountMax: byteCountMax)
            var end = part.endIndex
            // A late line break or space is a better place than the middle of a word.
            let tail = part.suffix(part.count / 4)
            if let place = tail.lastIndex(where: \.isNewline) ?? tail.lastIndex(where: \.isWhitespace) {
                end = rest.index(after: place)
            }
            parts.append(String(rest[..<end]))
            rest = rest[end...]
        }
        if !rest.isEmpty { parts.append(String(rest)) }
        return parts.filter { !$0.allSatisfy(\.isWhitespace) || parts.count == 1 }
    }
}

extension Substring {
    /// The longest beginning, in whole characters if there is one, that has no more bytes of UTF-8.
    fileprivate func prefix(byteCountMax: Int) -> Substring {
        var end = startIndex
        var byteCount = 0
        while end < endIndex {
            byteCount += self[end].utf8.count
            guard byteCount <= byteCountMax else { break }
            end = index(after: end)
        }
        if end > startIndex { return self[..<end] }
        // One character of more bytes: thousands of marks on a letter.
        return self[..<unicodeScalars.index(startIndex, offsetBy: byteCountMax / 4)]
    }
}
