// APNs, FCM, Google's token server and a Web Push service as processes of a test. They record accepted alerts, and tests
// can make them misbehave. Their rules are in sinks/services.py, their misbehaviour in sinks/connections.py.
import Foundation
import Synchronization

/// The processes end with this value, or with the test process. Only nodes with the right CA file trust their certificate.
package final class PushSinks: Sendable {
    package enum Service: String, Codable, Sendable, CaseIterable { case apns, fcm, oauth, webpush }

    /// An alert that a device would have received.
    package struct Alert: Codable, Sendable {
        package let service: Service
        /// The device's token; for Web Push the last part of the endpoint.
        package let token: String
        /// `apns-id`.
        package let id: String?
        /// `apns-collapse-id`, FCM's `collapse_key`, Web Push's `Topic`.
        package let collapse: String?
        /// APNs: the push type. FCM: `alert` if the message has a notification, otherwise `background`. Web Push: the
        /// urgency.
        package let kind: String
        /// `apns-priority`, `apns-expiration`, `apns-topic`, Web Push's `TTL`.
        package let priority: String?
        package let expiration: Int?
        package let topic: String?
        package let ttl: Int?
        /// Distinguishes provider tokens, access tokens and VAPID keys.
        package let signer: String
        /// The request's body as JSON; for Web Push as the client decrypts it.
        package let payload: String
        package let connection: Int
    }

    /// How a service treats requests instead of accepting them.
    package struct Behaviour: Encodable, Sendable {
        private var kind: String
        private var seconds: Double?
        private var status: Int?
        private var reason: String?
        private var headers: [String: String]?
        private var body: String?
        private var padding: Int?

        private init(_ kind: String) { self.kind = kind }

        /// Answers with the service's body for the reason (410 from APNs with the present `timestamp`), and
        /// padding.
        package static func answer(
            _ status: Int, reason: String = "", headers: [String: String] = [:], padding: Int = 0
        ) -> Behaviour {
            var behaviour = Behaviour("answer")
            (behaviour.status, behaviour.reason, behaviour.headers, behaviour.padding) = (
                status, reason, headers, padding
            )
            return behaviour
        }

        /// Answers with this body.
        package static func answer(_ status: Int, body: String, headers: [String: String] = [:]) -> Behaviour {
            var behaviour = Behaviour("answer")
            (behaviour.status, behaviour.body, behaviour.headers) = (status, body, headers)
            return behaviour
        }

        /// Answers with only a status, before it has read the request's body.
        package static func early(_ status: Int) -> Behaviour {
            var behaviour = Behaviour("early")
            (behaviour.status, behaviour.body) = (status, "")
            return behaviour
        }

        /// Accepts the request after this delay, if the client still waits.
        package static func slow(seconds: Double) -> Behaviour {
            var behaviour = Behaviour("slow")
            behaviour.seconds = seconds
            return behaviour
        }

        /// Never answers, and accepts nothing.
        package static let hang = Behaviour("hang")
        /// Closes the connection without an answer and without accepting the request. The client has read the earlier
        /// answers by then.
        package static let drop = Behaviour("drop")
        /// Accepts the request, and closes the connection at once without an answer. The client may not have read earlier
        /// answers.
        package static let lost = Behaviour("lost")
        /// Accepts the request, or answers this status, and closes the connection within the answer; the headers arrive.
        package static let torn = Behaviour("torn")
        package static func torn(_ status: Int) -> Behaviour {
            var behaviour = answer(status)
            behaviour.kind = "torn"
            return behaviour
        }
        /// Answers RST_STREAM with REFUSED_STREAM, or with INTERNAL_ERROR.
        package static let refuse = Behaviour("refuse")
        package static let reset = Behaviour("reset")
        /// GOAWAY instead of an answer, which stands for all requests that aren't answered yet; or after it.
        package static let goAway = Behaviour("goaway")
        package static let goAwayAfter = Behaviour("goaway_after")
    }

    /// A client's half of Web Push, as a browser provides it to its application.
    package struct Subscription: Codable, Sendable {
        package let endpoint: String
        package let p256dh: String
        package let auth: String
        /// The same text as `Alert.token`.
        package var token: String { endpoint.split(separator: "/").last.map(String.init) ?? "" }
    }

    private struct Command: ScriptCommand {
        var `do`: String
        var number = 0
        var service: Service?
        var token: String?
        var times: Int?
        var count: Int?
        var first: Int?
        var behaviour: Behaviour?
    }

    private struct Line: ScriptLine {
        let event: String
        let service: Service?
        let number: Int?
        let token: String?
        let reason: String?
        let alert: Alert?
        let subscription: Subscription?
    }

    package let ports: [Service: Int]
    private let script: ScriptProcess<Line>

    package static let topic = "org.example.parley"
    /// For PARLEY_CA_FILE.
    package var certificate: String { script.directory.path + "/certificate.pem" }

    /// The settings of a node that sends to these services.
    package var settings: [String: String] {
        [
            "PARLEY_CA_FILE": certificate, "PARLEY_PUSH_ALLOW_PRIVATE": "true",
            "PARLEY_APNS_KEY_FILE": script.directory.path + "/apns.p8", "PARLEY_APNS_KEY_ID": "ABCDE12345",
            "PARLEY_APNS_TEAM_ID": "TEAM123456", "PARLEY_APNS_TOPIC": Self.topic, "PARLEY_APNS_URL": url(.apns),
            "PARLEY_FCM_ACCOUNT_FILE": script.directory.path + "/fcm.json", "PARLEY_FCM_URL": url(.fcm),
            "PARLEY_WEBPUSH_SUBJECT": "mailto:push@example.org",
        ]
    }

    package func url(_ service: Service) -> String { "https://127.0.0.1:\(ports[service] ?? 0)" }

    private init() throws {
        let directory = try TemporaryDirectory()
        try Tool.makeCertificate(directory.path + "/certificate.pem", key: directory.path + "/key.pem", name: "sinks")
        var ports: [Service: Int] = [:]
        for service in Service.allCases { ports[service] = try Sockets.freePort(not: ports.values) }
        self.ports = ports
        let order: [Service] = [.apns, .oauth, .fcm, .webpush]
        script = try ScriptProcess(
            "sinks/main.py", [directory.path] + order.map { "\(ports[$0] ?? 0)" }, in: directory)
    }

    /// A fifth of a second.
    package static func start() async throws -> PushSinks {
        let sinks = try PushSinks()
        try await sinks.script.wait(
            for: "the start of push services (python3-h2 and python3-cryptography are needed: .ci/deps test)"
        ) { $0.first { $0.event == "ready" } }
        return sinks
    }

    // MARK: Steering. A change is in force when the call returns.

    /// - Parameters:
    ///   - token: the device whose requests are affected; nil for all. `.oauth` has only the token `token`.
    ///   - times: the number of requests affected; earlier behaviours come first.
    package func behave(
        _ behaviour: Behaviour, of service: Service, for token: String? = nil, times: Int = 1
    ) async throws {
        try await script.tell(
            Command(do: "behaviour", service: service, token: token, times: times, behaviour: behaviour))
    }

    /// Ends all misbehaviour.
    package func restore(_ service: Service) async throws {
        try await script.tell(Command(do: "restore", service: service))
    }
    /// Stops a service with all its connections, and starts it at the same port.
    package func close(_ service: Service) async throws {
        try await script.tell(Command(do: "close", service: service))
    }
    package func open(_ service: Service) async throws { try await script.tell(Command(do: "open", service: service)) }
    /// Closes all connections of a service.
    package func drop(_ service: Service) async throws { try await script.tell(Command(do: "drop", service: service)) }
    /// The number of concurrent streams that new connections announce, by default 100. More streams are refused. Before
    /// its first answer a connection may have fewer, as with APNs; more streams than these close it.
    package func setStreams(_ count: Int, atFirst first: Int? = nil, of service: Service) async throws {
        try await script.tell(Command(do: "streams", service: service, count: count, first: first))
    }
    /// FCM refuses all access tokens issued so far.
    package func expireAccessTokens() async throws { try await script.tell(Command(do: "expire")) }

    package func subscribe() async throws -> Subscription {
        guard let subscription = try await script.tell(Command(do: "subscribe")).subscription else {
            throw Tool.Failure(description: "no subscription")
        }
        return subscription
    }

    // MARK: Reading the record

    /// Returns what a service has accepted so far, for one device or for all.
    package func accepted(_ service: Service, token: String? = nil) throws -> [Alert] {
        try lines("accepted", service, token).compactMap(\.alert)
    }

    /// Waits for `count` alerts, and returns all.
    @discardableResult
    package func accepted(_ service: Service, token: String? = nil, count: Int) async throws -> [Alert] {
        try await script.wait(
            for: """
                \(count) alerts that \(service) accepts (it accepted \(try accepted(service, token: token).count), and refused \
                \(try refusals(of: service, token: token)))
                """
        ) { _ in
            let alerts = try accepted(service, token: token)
            return alerts.count >= count ? alerts : nil
        }
    }

    /// Requests that were received completely, whatever their outcome.
    package func requestCount(of service: Service, token: String? = nil) throws -> Int {
        try lines("request", service, token).count
    }

    /// The reasons of refusals, the service's own and those that a test set.
    package func refusals(of service: Service, token: String? = nil) throws -> [String] {
        try lines("refused", service, token).map { $0.reason ?? "" }
    }

    /// The number of connections since the start.
    package func connectionCount(of service: Service) throws -> Int { try lines("connection", service).count }
    package func openConnectionCount(of service: Service) throws -> Int {
        try connectionCount(of: service) - lines("disconnection", service).count
    }

    /// The largest number of concurrent connections.
    package func peakConnectionCount(of service: Service) throws -> Int {
        var (count, peak) = (0, 0)
        for line in try script.lines where line.service == service {
            if line.event == "connection" { count += 1 }
            if line.event == "disconnection" { count -= 1 }
            peak = max(peak, count)
        }
        return peak
    }

    private func lines(_ event: String, _ service: Service, _ token: String? = nil) throws -> [Line] {
        try script.lines.filter {
            $0.event == event && $0.service == service && (token == nil || $0.token == token)
        }
    }
}
