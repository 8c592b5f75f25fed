// Firebase Cloud Messaging, HTTP v1: its requests. FCM+token.swift has the service account's token, FCM+answers.swift
// the meaning of the answers.
import Domain
import Outbound

/// Alerts to Android devices.
package struct FCM: Sendable {
    /// The most of a request. FCM limits the payload in it, so a longer token than any known gets room of its own.
    static let bodyByteCountMax = 4_096
    private static let payloadByteCount = 3_072
    /// Four weeks: FCM's maximum.
    static let timeToLiveSMax = 2_419_200

    let account: ServiceAccount
    private let url: String
    /// Distinguishes this account's tokens from those of other accounts.
    package var tokenScope: String { "\(account.project) \(account.email)" }

    /// - Parameters:
    ///   - account: the JSON file of a service account, from Google's console.
    ///   - url: replaces Google's host, as `https://host:port`.
    package init(account: [UInt8], url: String?) throws(PushKeyUnreadable) {
        self.account = try ServiceAccount(account)
        self.url = url ?? "https://fcm.googleapis.com"
    }

    /// - Parameter now: seconds since 1970.
    package func request(
        _ alert: PushAlert, providerToken: ProviderToken, now: Int
    ) throws(Unsendable) -> HTTPExchange {
        guard case .fcm(let token) = alert.target else { throw Unsendable.platform }
        return HTTPExchange(
            url: "\(url)/v1/projects/\(account.project)/messages:send",
            headers: [
                ("authorization", "Bearer \(providerToken.text)"), ("content-type", "application/json; charset=utf-8"),
            ],
            body: Self.body(alert, token: token, now: now), reach: .anywhere)
    }

    private static func body(_ alert: PushAlert, token: String, now: Int) -> [UInt8] {
        // All values of `data` must be strings.
        let facts = alert.facts.map { JSONValue.Member($0.key, .string($0.value.string ?? $0.value.compactString)) }
        let data = JSONValue.object(facts + [.init("badge", .string(String(alert.badge)))])
        let life = "\(min(alert.timeToLive(now: now), timeToLiveSMax))s"
        func message(_ notification: JSONValue?, _ android: [JSONValue.Member]) -> JSONValue {
            var message = [JSONValue.Member("token", .string(token)), .init("data", data)]
            if let notification { message.append(.init("notification", notification)) }
            let kept: [JSONValue.Member] = [
                .init("collapse_key", .string(alert.thread.description)), .init("ttl", .string(life)),
                .init("priority", .string(alert.isSilent ? "normal" : "high")),
            ]
            message.append(.init("android", .object(kept + android)))
            return .object([.init("message", .object(message))])
        }
        guard case .message(let content) = alert.content else { return JSONText(message(nil, [])).utf8 }
        let byteCountMax = max(bodyByteCountMax, payloadByteCount + token.utf8.count)
        return AlertText(content).json(byteCountMax: byteCountMax) { text in
            var lines: [JSONValue.Member] = []
            if let title = text.title { lines.append(.init("title", .string(title))) }
            lines.append(.init("body", .string(text.body)))
            let shown: JSONValue = .object([
                .init("tag", .string(content.thread.description)), .init("notification_count", .integer(alert.badge)),
            ])
            return message(.object(lines), [.init("notification", shown)])
        }
    }
}

extension JSONValue {
    fileprivate var compactString: String { String(decoding: compactText.utf8, as: UTF8.self) }
}
