// JavaScript and CSS as they are sent. Two fifths of the sources are comments, JSDoc types and indentation, which no browser
// needs. Names are not changed.

enum SourceText {
    /// Removes lines that are comments alone, empty lines and indentation. No knowledge of the language is needed beyond this:
    /// a line that begins with `//` or `/*` begins a comment, because no literal spans lines.
    /// Tests/WebClientTests/rules.py checks that.
    ///
    /// - Parameter isModule: whether types within lines, and spaces beside punctuation, are removed as well.
    static func withoutComments(_ text: String, isModule: Bool = false) -> String {
        var kept: [UInt8] = []
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
            kept += isModule ? withoutSpaces(withoutTypes(Array(rest))) : Array(rest)
            kept.append(UInt8(ascii: "\n"))
        }
        return kept.isEmpty ? "\n" : String(decoding: kept, as: UTF8.self)
    }

    /// Removes `/** @type {X} */` within a line. No literal contains `/** `.
    private static func withoutTypes(_ line: [UInt8]) -> [UInt8] {
        guard let start = line.firstRange(of: Array("/** ".utf8)), let end = end(of: line[start.upperBound...]) else {
            return line
        }
        return withoutTypes(Array(line[..<start.lowerBound] + line[end...].drop(while: isSpace)))
    }

    /// Removes spaces beside punctuation, outside of `'…'`. A line that may hold another literal stays as it is: one with a
    /// backslash, or with a slash, a backtick or a double quote outside of `'…'`.
    private static func withoutSpaces(_ line: [UInt8]) -> [UInt8] {
        var kept: [UInt8] = []
        var isInText = false
        for (byte, next) in zip(line, line.dropFirst() + [0]) {
            if byte == UInt8(ascii: "'") { isInText.toggle() }
            if byte == UInt8(ascii: "\\") || !isInText && "/`\"".utf8.contains(byte) { return line }
            let isNeeded = isInText || !isSpace(byte) || !(isPunctuation(next) || kept.last.map(isPunctuation) ?? false)
            if isNeeded { kept.append(byte) }
        }
        return kept
    }

    private static func isPunctuation(_ byte: UInt8) -> Bool { "=,{}():;?<>&|![]'".utf8.contains(byte) }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// The place after the first `*/`.
    private static func end<Bytes: Collection<UInt8>>(of bytes: Bytes) -> Bytes.Index? {
        var wasStar = false
        for index in bytes.indices {
            if wasStar, bytes[index] == UInt8(ascii: "/") { return bytes.index(after: index) }
            wasStar = bytes[index] == UInt8(ascii: "*")
        }
        return nil
    }
}
