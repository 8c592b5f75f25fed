import CommandLineFlags
// Parses the settings of mail: the relay's URL and the sender. Outbound sends the mail.
package import Domain

/// A mail relay: `smtp://user:password@host:port` or `smtps://…`. May contain a password: print `redacted`.
package struct MailServer: Sendable, Equatable {
    /// Whether a plain connection switches to TLS.
    package enum StartTLS: String, CaseIterable, Sendable {
        /// Send nothing without TLS.
        case required
        /// Use TLS if the relay offers it.
        case optional
        case off
    }

    /// Whether the connection uses TLS from the first byte (`smtps`).
    package let isTLS: Bool
    package let startTLS: StartTLS
    /// A name or an address; an IPv6 address without its brackets.
    package let host: String
    package let port: Int
    package let user: String?
    package let password: String?
    /// The URL as written.
    private let text: String

    /// The URL with the password hidden.
    package var redacted: String { ConnectionString.redacted(text) }

    /// Parses a URL; nil if it is invalid or ambiguous. The default port is 25, with TLS 465. STARTTLS is required
    /// unless the query says otherwise (`?starttls=optional`, `?starttls=off`). For a relay on this host it is
    /// optional.
    package init?(_ text: String) {
        guard let scheme = text.firstRange(of: "://"), !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7f })
        else { return nil }
        switch text[..<scheme.lowerBound].lowercased() {
        case "smtp": isTLS = false
        case "smtps": isTLS = true
        default: return nil
        }
        let rest = text[scheme.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        var tail = rest[authority.endIndex...]
        if tail.hasPrefix("/") { tail = tail.dropFirst() }

        let credentials = authority.lastIndex(of: "@").map { authority[..<$0] }
        let place = credentials.map { authority[$0.endIndex...].dropFirst() } ?? authority
        let parts = credentials?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let decoded = parts?.map { percentDecoded($0.utf8, plusIsSpace: false) }
        guard decoded?.contains(where: { $0 == nil || $0 == "" }) != true,
            let (host, port) = Self.hostAndPort(place, otherwise: isTLS ? 465 : 25)
        else { return nil }
        user = decoded?.first ?? nil
        password = decoded.flatMap { $0.count > 1 ? $0[1] : nil }
        self.host = host
        self.port = port
        self.text = text

        let isLocal = host == "localhost" || host == "::1" || host.hasPrefix("127.")
        if tail.isEmpty {
            startTLS = isLocal ? .optional : .required
        } else {
            let name = "?starttls="
            guard !isTLS, tail.hasPrefix(name), let startTLS = StartTLS(rawValue: String(tail.dropFirst(name.count)))
            else { return nil }
            self.startTLS = startTLS
        }
    }

    private static func hostAndPort(_ text: Substring, otherwise port: Int) -> (host: String, port: Int)? {
        guard let match = text.wholeMatch(of: /(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._\-]+))(?::([0-9]{1,5}))?/),
            let host = match.1 ?? match.2
        else { return nil }
        guard let digits = match.3 else { return (String(host), port) }
        guard let number = Int(digits), (1...65_535).contains(number) else { return nil }
        return (String(host), number)
    }
}

/// The sender of e-mails: `address` or `Name <address>`.
package struct MailSender: Sendable, Equatable {
    package let name: String?
    package let address: EmailAddress

    package init?(_ text: String) {
        let match = text.wholeMatch(of: /(.*?)\s*<([^<>]*)>/)
        let typedName = match.map { String($0.1) } ?? ""
        guard let address = try? EmailAddress(text: match.map { String($0.2) } ?? text), typedName.isOneLine else {
            return nil
        }
        self.address = address
        name = typedName.isEmpty ? nil : typedName
    }

    var text: String { name.map { "\($0) <\(address.text)>" } ?? address.text }
}

extension String {
    /// Whether the text has no control characters and no line breaks.
    fileprivate var isOneLine: Bool {
        unicodeScalars.allSatisfy {
            ![.control, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
        }
    }
}

extension ValueFormat<MailServer> {
    static var mailServer: Self {
        ValueFormat(
            expectation: "an address of the form smtp://user:password@host:587 or smtps://… (percent-encode "
                + "special characters in user and password; append ?starttls=off for a relay without TLS)",
            parse: { MailServer($0) }, print: \.redacted)
    }
}

extension ValueFormat<MailSender> {
    static var mailSender: Self {
        ValueFormat(
            expectation: "an e-mail address, or Name <address>", parse: { MailSender($0) },
            print: \.text)
    }
}

extension ValueFormat<String> {
    /// A single line of text.
    static func line(characterCountMax: Int) -> Self {
        ValueFormat(
            expectation: "one line of 1 to \(characterCountMax) characters",
            parse: { text in
                let isGood = !text.isEmpty && text.unicodeScalars.count <= characterCountMax && text.isOneLine
                return isGood ? text : nil
            },
            print: { $0 })
    }
}
