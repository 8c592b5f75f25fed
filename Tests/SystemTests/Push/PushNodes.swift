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
        let answer = try await caller.put(
            "/v1/sessions/current/push",
            ["platform": "apns", "token": .string(token), "environment": "production"], as: person)
        try #require((200...204).contains(answer.status), "\(answer)", sourceLocation: sourceLocation)
        return Phone(person: person, token: token)
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
