// JavaScript and CSS without comments. A third of the modules is comments and JSDoc types, which no browser needs.

enum SourceText {
    /// Removes lines that are comments alone, empty lines and indentation. Nothing within a line changes, so no knowledge
    /// of the language is needed beyond this: a line that begins with `//` or `/*` begins a comment, because no literal
    /// spans lines. Tests/WebClientTests/rules.py checks that.
    static func withoutComments(_ text: String) -> String {
        var kept: [Substring.UTF8View] = []
        var isInComment = false
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            var rest = line.drop(while: isSpace)
            if isInComment || rest.starts(with: "/*".utf8) {
                // The mark of the end must not be found in the mark of the beginning: `/*/`.
                let body = isInComment ? rest : rest.dropFirst(2)
                guard let end = end(of: body) else {
                    isInComment = true
                    continue
                }
                isInComment = false
                rest = body[end...].drop(while: isSpace)
            }
            guard !rest.isEmpty, !rest.starts(with: "//".utf8) else { continue }
            kept.append(rest)
        }
        return kept.map { String(Substring($0)) }.joined(separator: "\n") + "\n"
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// The place after the first `*/`.
    private static func end(of bytes: Substring.UTF8View) -> Substring.UTF8View.Index? {
        var wasStar = false
        for index in bytes.indices {
            if wasStar, bytes[index] == UInt8(ascii: "/") { return bytes.index(after: index) }
            wasStar = bytes[index] == UInt8(ascii: "*")
        }
        return nil
    }
}
