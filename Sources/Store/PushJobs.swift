// Alerts that wait: taking them in hand, and saying what became of them.
import Domain
import Postgres

/// An alert that this node is to send, for as long as it asked for.
package struct ClaimedAlert: Sendable {
    package var session: SessionID
    package var position: Position
    package var alert: PushAlert
    /// Since what it tells of happened.
    package var ageMs: Int
}

/// Why an alert isn't sent after all.
package enum PushSuppression: String, CaseIterable, Sendable {
    case expired, polling, left, deleted, read, hidden, muted, blocked
}

package struct PushClaim: Sendable {
    package var alerts: [ClaimedAlert] = []
    package var suppressed: [(reason: PushSuppression, count: Int)] = []
}

/// What became of an alert.
package struct PushSettlement: Sendable {
    package enum Outcome: Sendable {
        /// It needn't be sent again.
        case done
        case retry(waitMs: Int)
        /// As `retry`, and it doesn't count as a try: it wasn't sent.
        case `defer`(waitMs: Int)
        /// The token is no good any more, if it is still the one that the alert had.
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
    /// Takes alerts that are due, one a device. A call that was begun runs to its end, whatever becomes of its
    /// caller: what it takes is nobody else's for a while.
    /// - Parameters:
    ///   - leaseSeconds: for how long nobody else takes them.
    ///   - lifeSeconds: older ones are given up.
    package func claimAlerts(
        _ platform: PushPlatform, limit: Int, leaseSeconds: Int, lifeSeconds: Int
    ) async throws -> PushClaim {
        let result = await withCheckedContinuation { continuation in
            changes.client.begin(
                Statement("push_claim", "select * from push_claim($1, $2, $3, $4)"),
                [
                    .text(platform.rawValue), .int4(Int32(limit)), .int4(Int32(leaseSeconds)),
                    .int4(Int32(lifeSeconds)),
                ]
            ) { continuation.resume(returning: $0) }
        }
        return try await decoded {
            let rows = try result.get()
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

    /// Says what became of alerts.
    /// - Parameter done: hears how many devices' tokens were forgotten, on the database's I/O thread: it must not
    ///   block.
    package func settleAlerts(
        _ settlements: [PushSettlement], _ done: @escaping @Sendable (Result<Int, any Error>) -> Void
    ) {
        let claimed = settlements.map(\.claimed)
        let outcomes = settlements.map(\.outcome.parts)
        changes.client.begin(
            Statement("push_settle", "select push_settle($1, $2, $3, $4, $5, $6)"),
            [
                .ids(claimed.map(\.session)), .int8s(claimed.map(\.position.value)),
                .int4s(claimed.map { Int32($0.alert.attempt) }), .texts(outcomes.map(\.name)),
                .int8s(outcomes.map { Int64($0.waitMs) }), .int8s(claimed.map { Int64($0.alert.registeredAtMs) }),
            ]
        ) { result in
            done(result.flatMap { rows in Result { Int(try rows.first?.int4(0) ?? 0) } })
        }
    }

    /// Gives up what is too old where no node sends; gives how much that was.
    /// - Parameter limit: of devices.
    package func expireAlerts(_ platform: PushPlatform, limit: Int, lifeSeconds: Int) async throws -> Int {
        let row = try await row(
            Statement("push_expire", "select push_expire($1, $2, $3)"),
            [.text(platform.rawValue), .int4(Int32(limit)), .int4(Int32(lifeSeconds))])
        return try await decoded { Int(try row.int4(0)) }
    }

    /// For how long the first alert that is due has been so; nil when none is.
    package func alertQueueAgeMs(_ platform: PushPlatform) async throws -> Int? {
        let row = try await row(
            Statement("push_queue_ms", "select push_queue_ms($1)"), [.text(platform.rawValue)])
        return try await decoded { try row.int8OrNull(0).map(Int.init) }
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
