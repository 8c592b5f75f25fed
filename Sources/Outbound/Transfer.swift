// Requests to other servers and their results: values, without libcurl.

/// One exchange with another server, and how long it may take.
package struct Transfer: Sendable {
    /// The kind of exchange. Another protocol needs a case here and its options in `Exchange`.
    package enum Work: Sendable {
        /// Hands a mail to a relay.
        case mail(MailDelivery)
        /// Sends a request to a web server, over HTTP/2 if the server supports it.
        case http(HTTPExchange)
        /// Sends a request whose bodies are streamed. `timeMax` bounds only the wait in the queue.
        case stream(StreamedExchange, TransferStream)
    }

    package var work: Work
    /// The longest time to connect, including TLS.
    package var connectMax = Duration.seconds(10)
    /// The longest time for the whole transfer, including the wait in the queue.
    package var timeMax = Duration.seconds(30)

    package init(_ work: Work) { self.work = work }
}

/// A server that accepts mail for delivery (RFC 6409), and how to connect to it.
package struct MailRelay: Sendable, Equatable {
    package enum Security: Sendable {
        /// TLS from the first byte.
        case tls
        /// STARTTLS is required.
        case startTLS
        /// STARTTLS if the server offers it. An attacker on the network can prevent that.
        case startTLSIfOffered
        case none
    }

    /// A name or an address; an IPv6 address has no brackets.
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

/// A mail for one recipient, as the relay receives it.
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

/// A POST to a web server. Redirects are never followed. If a connection closes before anything was answered, the
/// request is sent again over a new one, a few times.
package struct HTTPExchange: Sendable {
    /// Which addresses are allowed. The check is made on the address that is connected to.
    package enum Reach: Sendable {
        /// The operator configured the host.
        case anywhere
        /// A client named the URL: https only, and public addresses only.
        case publicOnly
    }

    package let url: String
    /// Scheme, host and port of the URL.
    package let origin: String
    /// Names in lower case.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    package var reach: Reach
    /// A longer answer body fails the exchange. So do headers of more than 16 KiB.
    package var answerByteCountMax = 64 << 10
    /// Whether a 2xx status is enough: such an answer counts although its connection broke before the end.
    package var needsStatusOnly = false
    /// Whether requests on new connections begin at once, however many (`OriginGate`). For a server of the operator's, and
    /// for answers that cannot wait.
    package var opensAtOnce = false

    package init(url: String, headers: [(name: String, value: String)], body: [UInt8], reach: Reach) {
        self.url = url
        origin = Self.origin(of: url)
        self.headers = headers
        self.body = body
        self.reach = reach
    }

    static func origin(of url: String) -> String {
        let host = url.utf8.firstIndex(of: UInt8(ascii: ":")).map { url.utf8[$0...].dropFirst(3) } ?? url.utf8[...]
        let end = host.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? host.endIndex
        return String(url[..<end])
    }
}

/// The answer to a transfer that succeeded. In HTTP that is any answer, whatever its status.
package struct TransferAnswer: Sendable, Equatable {
    /// HTTP's status, or SMTP's reply code.
    package var status: Int
    /// The headers of HTTP's last answer, names in lower case.
    package var headers: [String: String] = [:]
    package var body: [UInt8] = []

    package init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// Why a transfer failed. The reasons are libcurl's: they name hosts and statuses, never recipients or content.
package enum TransferFailure: Error, Equatable {
    /// The relay refused this mail. In SMTP 4xx is temporary and 5xx permanent.
    case refused(status: Int, reason: String)
    /// For example, the server was not reached or not trusted, refused the sign-in, or closed the connection.
    case failed(reason: String)
    /// The address is not allowed (`HTTPExchange.Reach`). Another try would fail, too.
    case forbidden(reason: String)
    case timedOut
    /// The queue is full.
    case overloaded
    /// The client is closed.
    case closed
}

extension TransferFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .refused(_, let reason), .failed(let reason), .forbidden(let reason): reason
        case .timedOut: "it took too long"
        case .overloaded: "too many transfers are waiting"
        case .closed: "shut down"
        }
    }
}
