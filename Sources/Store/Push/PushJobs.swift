// Waiting alerts: claiming them, and recording their outcomes.
import Domain
import Postgres

/// An alert that this node sends; its claim is a lease.
package struct ClaimedAlert: Sendable {
    package var session: SessionID
    package var position: Position
    package var alert: PushAlert
    /// The time since the event.
    package var ageMs: Int
}

/// Why an alert is suppressed before sending.
package enum PushSuppression: String, CaseIterable, Sendable {
    case expired, polling, left, deleted, read, hidden, muted, blocked
    case notMentioned = "not_mentioned"
}

package struct PushClaim: Sendable {
    package var alerts: [ClaimedAlert] = []
    package var suppressed: [(reason: PushSuppression, count: Int)] = []
}

/// The outcome of an alert.
package struct PushSettlement: Sendable {
    package enum Outcome: Sendable {
        /// The alert must not be sent again.
        case done
        case retry(waitMs: Int)
        /// As `retry`, but the alert was not sent, so this does not count as an attempt.
        case `defer`(waitMs: Int)
        /// The alert's token is invalid; it is deleted if the device still has it.
        case forget
    }

    package var claimed: ClaimedAlert
    package var outcome: Outcome

    package init(_ claimed: ClaimedAlert, _ outcome: Outcome) {
        self.claimed = claimed
        self.outcome = outcome
    }
}

extension Store {
    /// Claims due alerts, one for each device. The call runs to its end even if its task is cancelled, because claimed
    /// alerts are locked for other nodes until the lease ends.
    /// - Parameters:
    ///   - leaseSeconds: for how long no other node claims them.
    ///   - lifeSeconds: older alerts are dropped.
    package func claimAlerts(
        _ platform: PushPlatform, limit: Int, leaseSeconds: Int, lifeSeconds: Int
    ) async throws -> PushClaim {
        let rows = try await finishing.rows(
            "push_claim",
            [.text(platform.rawValue), .int(limit), .int(leaseSeconds), .int(lifeSeconds)])
        return try await decoded {
            var claim = PushClaim()
            for row in rows {
                let outcome = try row.text(0)
                if outcome == "send" {
                    claim.alerts.append(try ClaimedAlert(row, platform))
                } else if let reason = PushSuppression(rawValue: outcome) {
                    claim.suppressed.append((reason, Int(try row.int4(1))))
                }
            }
            return claim
        }
    }

    /// Records the outcomes of alerts. Returns how many tokens were deleted. The call runs to its end even if its task is
    /// cancelled.
    package func settleAlerts(_ settlements: [PushSettlement]) async throws -> Int {
        let claimed = settlements.map(\.claimed)
        let outcomes = settlements.map(\.outcome.parts)
        return try await finishing.value(
            "push_settle",
            [
                .ids(claimed.map(\.session)), .int8s(claimed.map(\.position.value)),
                .int4s(claimed.map { Int32($0.alert.attempt) }), .texts(outcomes.map(\.name)),
                .int8s(outcomes.map { Int64($0.waitMs) }), .int8s(claimed.map { Int64($0.alert.registeredAtMs) }),
            ]
        ) { Int(try $0.int4(0)) }
    }

    /// Drops alerts that are too old, of a platform for which no node sends. Returns how many.
    /// - Parameter limit: how many devices at most.
    package func expireAlerts(_ platform: PushPlatform, limit: Int, lifeSeconds: Int) async throws -> Int {
        try await value("push_expire", [.text(platform.rawValue), .int(limit), .int(lifeSeconds)]) {
            Int(try $0.int4(0))
        }
    }

    /// Returns for how long the first due alert has been due; nil when none is.
    package func alertQueueAgeMs(_ platform: PushPlatform) async throws -> Int? {
        try await value("push_queue_ms", [.text(platform.rawValue)]) { try $0.int8OrNull(0).map(Int.init) }
    }
}

extension PushSettlement.Outcome {
    fileprivate var parts: (name: String, waitMs: Int) {
        switch self {
        case .done: ("done", 0)
        case .retry(let waitMs): ("retry", waitMs)
        case .defer(let waitMs): ("defer", waitMs)
        case .forget: ("forget", 0)
        }
    }
}

extension ClaimedAlert {
    fileprivate init(_ row: Row, _ platform: PushPlatform) throws {
        session = SessionID(try row.uuid(2))
        position = Position(try row.int8(3))
        ageMs = Int(try row.int8(6))
        let thread = ThreadID(try row.uuid(15))
        let seq = Seq(try row.int8(16))
        let content: PushAlert.Content =
            seq.value == 0
            ? .badge(thread: thread, readUpTo: Seq(try row.int8(17)))
            : .message(try PushMessage(row, thread, seq))
        alert = PushAlert(
            id: PushID(try row.uuid(4)), target: try PushTarget(row, platform), content: content,
            badge: Int(try row.int8(14)), attempt: Int(try row.int4(5)), expiresAt: Int(try row.int8(7)),
            registeredAtMs: Int(try row.int8(13)))
    }
}

extension PushTarget {
    fileprivate init(_ row: Row, _ platform: PushPlatform) throws {
        let token = try row.text(8)
        switch platform {
        case .apns:
            self = .apns(
                token: token, environment: try row.textOrNull(9).flatMap(APNsEnvironment.init) ?? .production,
                topic: try row.textOrNull(10))
        case .fcm: self = .fcm(token: token)
        case .webpush:
            self = .webPush(endpoint: token, key: try row.bytesOrNull(11) ?? [], secret: try row.bytesOrNull(12) ?? [])
        }
    }
}

extension PushMessage {
    fileprivate init(_ row: Row, _ thread: ThreadID, _ seq: Seq) throws {
        self.init(
            thread: thread, message: MessageID(try row.uuid(18)), seq: seq,
            title: try row.textOrNull(19), senderName: try row.textOrNull(20) ?? "", type: try row.text(21),
            text: try row.textOrNull(22), privacy: try row.textOrNull(23).flatMap(PushPrivacy.init) ?? .full)
    }
}
