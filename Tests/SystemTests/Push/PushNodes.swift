// Nodes with push services, and devices that are registered with them.
import Foundation
import TestSupport
import Testing

/// Two nodes and the push services that they send to.
struct PushNodes: Sendable {
    let nodes: TestNodes
    let sinks: PushSinks

    /// - Parameter waitMs: the time after the end of its last poll after which a device counts as not polling.
    static func settings(_ sinks: PushSinks, waitMs: Int = 200) -> [String: String] {
        sinks.settings.merging(["PARLEY_PUSH_WAIT_MS": "\(waitMs)"]) { $1 }
    }

    static func make(waitMs: Int = 200) async throws -> PushNodes {
        let sinks = try await PushSinks.start()
        let settings = settings(sinks, waitMs: waitMs)
        return PushNodes(
            nodes: try await TestNodes.own(on: try await TestCluster.shared(), settings: settings), sinks: sinks)
    }

    func sql(_ query: String) async throws -> String { try await Psql.run(query, conninfo: nodes.database) }
}

/// A device and its token.
struct Phone: Sendable {
    let person: Person
    let token: String

    /// Registers a device with APNs.
    static func apns(
        _ person: Person, at caller: some Caller, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Phone {
        let token = (0..<32).map { _ in String(UInt8.random(in: 16...255), radix: 16) }.joined()
        let target: JSON = ["platform": "apns", "token": .string(token), "environment": "production"]
        return try await register(target, token, person, at: caller, sourceLocation)
    }

    /// Registers a device with FCM.
    static func fcm(
        _ person: Person, at caller: some Caller, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Phone {
        let token = unique("fcm")
        return try await register(
            ["platform": "fcm", "token": .string(token)], token, person, at: caller, sourceLocation)
    }

    /// Registers a phone, a tablet and a browser, one at each push service.
    static func each(
        of person: Person, with sinks: PushSinks, at caller: some Caller,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [(service: PushSinks.Service, token: String)] {
        let phone = try await apns(person, at: caller, sourceLocation: sourceLocation)
        let android = try await fcm(
            try await caller.logIn(again: person), at: caller, sourceLocation: sourceLocation)
        let subscription = try await sinks.subscribe()
        let browser = try await register(
            subscription.target(), subscription.token, try await caller.logIn(again: person), at: caller,
            sourceLocation)
        return [(.apns, phone.token), (.fcm, android.token), (.webpush, browser.token)]
    }

    private static func register(
        _ target: JSON, _ token: String, _ person: Person, at caller: some Caller, _ sourceLocation: SourceLocation
    ) async throws -> Phone {
        let answer = try await caller.put("/v1/sessions/current/push", target, as: person)
        try #require((200...204).contains(answer.status), "\(answer)", sourceLocation: sourceLocation)
        return Phone(person: person, token: token)
    }
}

extension PushSinks.Subscription {
    /// The body with which a browser registers it, or one that names another endpoint.
    func target(endpoint other: String? = nil) -> JSON {
        [
            "platform": "webpush", "endpoint": .string(other ?? endpoint),
            "keys": ["p256dh": .string(p256dh), "auth": .string(auth)],
        ]
    }
}

extension PushSinks.Alert {
    var json: JSON { (try? JSON(parsing: Data(payload.utf8))) ?? .null }
    var badge: Int? { json["aps"]["badge"].int ?? json["badge"].int }
    /// The shown text; nil for a silent alert.
    var text: String? { json["aps"]["alert"]["body"].string }
    var messageID: String? { json["message_id"].string }
    var isSilent: Bool { json["aps"]["alert"] == .null }
}
