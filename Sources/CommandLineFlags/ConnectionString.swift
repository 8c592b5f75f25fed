// Prints a libpq connection string without its secrets. libpq itself validates the string when it connects.

package enum ConnectionString {
    package static let hidden = "***"

    /// Returns the string with its passwords hidden. Hides the whole string if a password cannot be located with
    /// certainty.
    package static func redacted(_ text: String) -> String {
        if let scheme = text.firstRange(of: "://"), !text[..<scheme.lowerBound].contains("=") {
            return text[..<scheme.upperBound] + redactedURL(text[scheme.upperBound...])
        }
        return redactedKeyWords(text)
    }

    /// `user:password@host/database?key=value&…`.
    private static func redactedURL(_ text: Substring) -> String {
        let authority = text.prefix { $0 != "/" && $0 != "?" }
        let rest = text[authority.endIndex...]
        // With an unescaped "@" or "/" in a password, only libpq knows where the credentials end.
        guard authority.count(where: { $0 == "@" }) <= 1, !rest.contains("@") else { return hidden }
        var shown = String(authority)
        if let at = authority.firstIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") {
            shown = authority[...colon] + hidden + authority[at...]
        }
        guard let question = rest.firstIndex(of: "?") else { return shown + rest }
        let query = rest[question...].dropFirst().split(separator: "&", omittingEmptySubsequences: false)
        return shown + rest[...question] + query.map(redactedPair).joined(separator: "&")
    }

    /// `key=value`. Hides the value of a percent-encoded key, because the key may spell "password".
    private static func redactedPair(_ pair: Substring) -> String {
        guard let equals = pair.firstIndex(of: "=") else { return String(pair) }
        let key = pair[..<equals]
        return mayNameSecret(key) || key.contains("%") ? "\(key)=\(hidden)" : String(pair)
    }

    /// `key = value` pairs; a value may be in single quotes with backslash escapes.
    private static func redactedKeyWords(_ text: String) -> String {
        var shown: [String] = []
        var rest = Substring(text).drop(while: \.isWhitespace)
        while !rest.isEmpty {
            guard let equals = rest.firstIndex(of: "=") else { return hidden }
            let key = rest[..<equals].reversed().drop(while: \.isWhitespace).reversed()
            guard !key.isEmpty, !key.contains(where: \.isWhitespace) else { return hidden }
            rest = rest[rest.index(after: equals)...].drop(while: \.isWhitespace)
            guard let value = takeValue(&rest) else { return hidden }
            shown.append("\(String(key))=\(mayNameSecret(String(key)) ? hidden : String(value))")
            rest = rest.drop(while: \.isWhitespace)
        }
        return shown.joined(separator: " ")
    }

    /// Returns the value as written, with its quotes; nil if a quote is not closed.
    private static func takeValue(_ rest: inout Substring) -> Substring? {
        let isQuoted = rest.first == "'"
        var at = isQuoted ? rest.index(after: rest.startIndex) : rest.startIndex
        while at < rest.endIndex, isQuoted ? rest[at] != "'" : !rest[at].isWhitespace {
            if rest[at] == "\\" { rest.formIndex(after: &at) }
            guard at < rest.endIndex else { return nil }
            rest.formIndex(after: &at)
        }
        if isQuoted {
            guard at < rest.endIndex else { return nil }
            rest.formIndex(after: &at)
        }
        defer { rest = rest[at...] }
        return rest[..<at]
    }

    /// Matches password, sslpassword and passfile.
    private static func mayNameSecret(_ key: some StringProtocol) -> Bool { key.lowercased().contains("pass") }
}
