// Why a connection failed, in words that may be shown: libpq's own text may quote the connection string.

/// A failed attempt to connect.
struct ConnectFailure: Error, Equatable, Sendable {
    /// Short, and free of secrets.
    let reason: String
    /// A retry is useless until an operator changes a setting, so waiting callers fail at once.
    let isRefusal: Bool

    init(reason: String, isRefusal: Bool = false) {
        self.reason = reason
        self.isRefusal = isRefusal
    }

    static let malformed = ConnectFailure(reason: "the connection string is malformed", isRefusal: true)
    static let timedOut = ConnectFailure(reason: "connecting took too long")
    static let isolation = ConnectFailure(
        reason: "behind a pooler, default_transaction_isolation of the database or the role must be 'read committed'",
        isRefusal: true)
    static let readOnly = ConnectFailure(reason: "the server is read-only: it is a standby, or was set read-only")
    static let stopped = ConnectFailure(reason: "shutting down")

    /// Reads libpq's text. With several hosts it holds one message for each; the last one counts.
    /// - Parameter text: made with `PQERRORS_VERBOSE`, so that server errors carry their SQLSTATE.
    init(libpqText text: String) {
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        if let (sqlState, message) = lines.reversed().lazy.compactMap(Self.serverError).first {
            self.init(sqlState: sqlState, message: message)
            return
        }
        for (needle, reason, isRefusal) in Self.known where text.contains(needle) {
            self.init(reason: reason, isRefusal: isRefusal)
            return
        }
        // Text after "failed: " is about the host. Other text may quote the connection string, so only its first words
        // are kept, which are libpq's own.
        if let line = lines.last(where: { $0.contains(" failed: ") }), let tail = line.firstRange(of: " failed: ") {
            self.init(reason: String(line[tail.upperBound...].prefix(200)))
        } else {
            let words = lines.last?.prefix { $0 != ":" && $0 != "\"" } ?? ""
            self.init(reason: words.isEmpty ? "no reason given" : words.trimmingSpaces)
        }
    }

    init(sqlState: String, message: String) {
        switch sqlState {
        case "28P01": self.init(reason: "password authentication failed", isRefusal: true)
        case "28000": self.init(reason: "the server refuses this user, host or database (28000)", isRefusal: true)
        // These two name only a database or user.
        case "3D000": self.init(reason: message, isRefusal: true)
        case "42501": self.init(reason: "no permission to connect to this database (42501)", isRefusal: true)
        case "53300": self.init(reason: "the server has too many connections (53300)")
        case "57P03": self.init(reason: "the database is starting up or shutting down (57P03)")
        default: self.init(reason: "the server answered with error \(sqlState)")
        }
    }

    /// Checked in this order, because a text can match several.
    private static let known: [(needle: String, reason: String, isRefusal: Bool)] = [
        ("no password supplied", "the server requires a password, and none is set", true),
        ("Connection refused", "connection refused", false),
        ("No such file or directory", "no server listens on this Unix socket", false),
        ("could not translate host name", "the host name could not be resolved", false),
        ("timeout expired", "connecting took too long", false),
        ("Connection timed out", "connecting took too long", false),
        ("server does not support SSL", "the server does not offer TLS, which the settings require", true),
        ("certificate verify failed", "the server's certificate was not accepted", true),
        ("does not match host name", "the server's certificate is for another host", true),
        ("server closed the connection unexpectedly", "the server closed the connection", false),
        ("Connection reset by peer", "the server closed the connection", false),
        ("session is read-only", "all servers of the list are read-only", false),
        ("server is in hot standby mode", "all servers of the list are read-only", false),
    ]

    /// Finds `SEVERITY:  SQLSTATE: message` in a line, whatever the language of its words.
    private static func serverError(_ line: String) -> (sqlState: String, message: String)? {
        guard let gap = line.firstRange(of: ":  ") else { return nil }
        let rest = line[gap.upperBound...]
        let sqlState = rest.prefix(5)
        guard sqlState.count == 5, sqlState.allSatisfy({ $0.isASCII && ($0.isUppercase || $0.isNumber) }),
            rest.dropFirst(5).hasPrefix(": ")
        else { return nil }
        return (String(sqlState), String(rest.dropFirst(7)))
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
