// What can be asked of servers elsewhere, and what comes of it: values, without libcurl.

/// One exchange with a server elsewhere: what it is, and how long it may take.
package struct Transfer: Sendable {
    /// What is exchanged. Another protocol is another case, and its options in `Exchange`.
    package enum Work: Sendable {
        /// Hands a mail to a relay.
        case mail(MailDelivery)
        /// Asks a web server, over HTTP/2 where it speaks that.
        case http(HTTPExchange)
    }

    package var work: Work
    /// Until the connection stands, TLS included.
    package var connectMax = Duration.seconds(10)
    /// For all of it, waiting for its turn included.
    package var timeMax = Duration.seconds(30)

    package init(_ work: Work) { self.work = work }
}

/// A server that takes mail for delivery (RFC 6409), and how to talk to it.
package struct MailRelay: Sendable, Equatable {
    package enum Security: Sendable {
        /// TLS from the first byte on.
        case tls
        /// STARTTLS, or nothing is said.
        case startTLS
        /// STARTTLS if the server offers it, which somebody in between can prevent.
        case startTLSIfOffered
        case none
    }

    /// A name or an address; an IPv6 one without brackets.
    package var host: String
    package var port: Int
    package var security: Security
    package var user: String?
    package var password: String?

    package init(host: String, port: Int, security: Security, user: String? = nil, password: String? = nil) {
        self.host = host
        self.port = port
        self.security = security
        self.user = user
        self.password = password
    }

    var url: String {
        "\(security == .tls ? "smtps" : "smtp")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

/// A mail for one recipient, as the relay gets it.
package struct MailDelivery: Sendable {
    package var relay: MailRelay
    /// The envelope's addresses, in ASCII.
    package var sender: String
    package var recipient: String
    /// Headers and body, lines ending in CRLF.
    package var content: [UInt8]

    package init(relay: MailRelay, sender: String, recipient: String, content: [UInt8]) {
        self.relay = relay
        self.sender = sender
        self.recipient = recipient
        self.content = content
    }
}

/// A POST to a web server. Redirects are never followed. One that meets a connection's end before anything was answered
/// is sent again, over a new one, a few times.
package struct HTTPExchange: Sendable {
    /// Which addresses the name may turn out to have. Judged on the address that is connected to.
    package enum Reach: Sendable {
        /// The operator configured the host.
        case anywhere
        /// Somebody gave us the URL: https only, and public addresses only.
        case publicOnly
    }

    package let url: String
    /// Scheme, host and port, as far as the URL has them.
    package let origin: String
    /// Names in lower case.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    package var reach: Reach
    /// More of an answer's body is not read: the exchange fails. Of its headers that is 16 KiB.
    package var answerByteCountMax = 64 << 10
    /// A 2xx says all that is asked for: such an answer counts although its connection broke before the answer's end.
    package var needsStatusOnly = false

    package init(url: String, headers: [(name: String, value: String)], body: [UInt8], reach: Reach) {
        self.url = url
        origin = Self.origin(of: url)
        self.headers = headers
        self.body = body
        self.reach = reach
    }

    private static func origin(of url: String) -> String {
        let host = url.utf8.firstIndex(of: UInt8(ascii: ":")).map { url.utf8[$0...].dropFirst(3) } ?? url.utf8[...]
        let end = host.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? host.endIndex
        return String(url[..<end])
    }
}

/// What the server said of a transfer that went well. Of HTTP that is any answer, whatever its status.
package struct TransferAnswer: Sendable, Equatable {
    /// HTTP's status, or SMTP's reply code.
    package var status: Int
    /// HTTP's last answer, names in lower case.
    package var headers: [String: String] = [:]
    package var body: [UInt8] = []

    package init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// Why a transfer came to nothing. The reasons are libcurl's: they name hosts and statuses, never recipients or content.
package enum TransferFailure: Error, Equatable {
    /// The server understood and said no to just this: 4xx of SMTP may pass, 5xx won't.
    case refused(status: Int, reason: String)
    /// Not reached, not trusted, not signed in at, or broken off.
    case failed(reason: String)
    /// It leads where nobody may send us (`HTTPExchange.Reach`): another try won't go there either.
    case forbidden(reason: String)
    case timedOut
    /// As many wait as may.
    case overloaded
    /// The client is shut down.
    case closed
}

extension TransferFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .refused(_, let reason), .failed(let reason), .forbidden(let reason): reason
        case .timedOut: "it took too long"
        case .overloaded: "too many wait already"
        case .closed: "shut down"
        }
    }
}
