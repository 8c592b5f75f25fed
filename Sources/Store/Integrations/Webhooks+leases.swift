// Delivering to endpoints: which node does, from where, and what became of it.
import Domain
import Postgres

/// An endpoint that a node delivers to, for as long as its lease lasts.
package struct LeasedWebhook: Sendable, Equatable {
    package var id: WebhookID
    /// The number of the lease. What an earlier turn writes is refused.
    package var turn: Int64
    /// Counts the changes of the endpoint.
    package var revision: Int
    package var target: WebhookTarget
    /// Nil for all types.
    package var types: Set<EventType>?
    package var isThin: Bool
    package var isOrdered: Bool
}

/// An event that failed, or waits behind one.
package struct OpenDelivery: Sendable, Equatable {
    package var position: Position
    package var event: String
    package var thread: ThreadID?
    /// When the event happened, in ms since 1970.
    package var atMs: Int64
    package var tryCount: Int
    /// When it is retried, in ms since 1970; nil for an event that was not tried.
    package var nextMs: Int64?

    package init(
        position: Position, event: String, thread: ThreadID?, atMs: Int64, tryCount: Int = 0, nextMs: Int64? = nil
    ) {
        self.position = position
        self.event = event
        self.thread = thread
        self.atMs = atMs
        self.tryCount = tryCount
        self.nextMs = nextMs
    }
}

/// What became of deliveries since the last call.
package struct WebhookOutcomes: Sendable {
    package struct Delivered: Sendable {
        package var position: Position
        package var event: String
        package var status: Int
        package var tryCount: Int

        package init(position: Position, event: String, status: Int, tryCount: Int) {
            self.position = position
            self.event = event
            self.status = status
            self.tryCount = tryCount
        }
    }

    package struct Open: Sendable {
        package enum State: Int32, Sendable { case waiting, failed, parked }

        package var delivery: OpenDelivery
        package var state: State
        /// Of the last answer.
        package var status: Int?
        package var reason: String?

        package init(_ delivery: OpenDelivery, _ state: State, status: Int? = nil, reason: String? = nil) {
            self.delivery = delivery
            self.state = state
            self.status = status
            self.reason = reason
        }
    }

    package var delivered: [Delivered] = []
    /// At most one for each event.
    package var open: [Open] = []
    /// Events that the log no longer has.
    package var removed: [Position] = []
    /// Whether the endpoint answered 410.
    package var isGone = false

    package init() {}

    package var count: Int { delivered.count + open.count + removed.count + (isGone ? 1 : 0) }
}

/// Where delivering goes on.
package struct WebhookPlace: Sendable, Equatable {
    package var cursor: Cursor
    /// Events that the log dropped before they were delivered, found by this call.
    package var droppedCount: Int
}

extension Store {
    /// Renews a node's leases and claims endpoints that no node has. Returns all that the node has.
    /// - Parameter limit: how many endpoints are claimed at most.
    package func tendWebhooks(
        node: String, held: [WebhookID], limit: Int, leaseSeconds: Int
    ) async throws -> [LeasedWebhook] {
        let rows = try await rows(
            Statement("webhook_tend", "select * from webhook_tend($1, $2, $3, $4)"),
            [.text(node), .ids(held), .int4(Int32(limit)), .int4(Int32(leaseSeconds))])
        return try await decoded { try rows.map { try LeasedWebhook($0) } }
    }

    /// Ends a lease: another node may claim the endpoint at once.
    package func releaseWebhook(_ id: WebhookID, turn: Int64) async throws {
        _ = try await rows(
            Statement("webhook_release", "select webhook_release($1, $2)"), [.id(id), .int8(turn)])
    }

    /// Returns where delivering goes on; nil if the turn is over.
    package func openWebhook(_ id: WebhookID, turn: Int64) async throws -> WebhookPlace? {
        let rows = try await rows(
            Statement("webhook_open", "select * from webhook_open($1, $2)"), [.id(id), .int8(turn)])
        return try await decoded {
            try rows.first.map { row in
                WebhookPlace(
                    cursor: Cursor(epoch: try row.int4(0), position: Position(try row.int8(1))),
                    droppedCount: Int(try row.int8(2)))
            }
        }
    }

    /// Returns the events of an endpoint that failed or wait, in order.
    package func openDeliveries(_ id: WebhookID, after: Position, limit: Int) async throws -> [OpenDelivery] {
        let rows = try await rows(
            Statement("webhook_open_deliveries", "select * from webhook_open_deliveries($1, $2, $3)"),
            [.id(id), .int8(after.value), .int4(Int32(limit))])
        return try await decoded {
            try rows.map { row in
                OpenDelivery(
                    position: Position(try row.int8(0)), event: try row.text(1),
                    thread: try row.uuidOrNull(2).map { ThreadID($0) }, atMs: try row.int8(3),
                    tryCount: Int(try row.int4(5)), nextMs: try row.int2(4) == 1 ? try row.int8OrNull(6) : nil)
            }
        }
    }

    /// Records outcomes and the cursor. Returns whether the turn lasts; otherwise nothing was recorded. The call runs to
    /// its end even if its task is cancelled, because what was delivered must be recorded.
    package func settleWebhook(
        _ id: WebhookID, turn: Int64, cursor: Cursor, _ outcomes: WebhookOutcomes
    ) async throws -> Bool {
        let (delivered, open) = (outcomes.delivered, outcomes.open)
        let result = await withCheckedContinuation { continuation in
            changes.client.begin(
                Statement(
                    "webhook_settle",
                    """
                    select webhook_settle($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
                        $19)
                    """),
                [
                    .id(id), .int8(turn), .int4(cursor.epoch), .int8(cursor.position.value),
                    .int8s(delivered.map { $0.position.value }), .texts(delivered.map(\.event)),
                    .int4s(delivered.map { Int32($0.status) }), .int4s(delivered.map { Int32($0.tryCount) }),
                    .int8s(open.map { $0.delivery.position.value }), .texts(open.map(\.delivery.event)),
                    .uuids(open.map { $0.delivery.thread?.uuid }), .int8s(open.map(\.delivery.atMs)),
                    .int4s(open.map(\.state.rawValue)), .int4s(open.map { Int32($0.delivery.tryCount) }),
                    .int4s(open.map { $0.status.map(Int32.init) }), .texts(open.map(\.reason)),
                    .int8s(open.map(\.delivery.nextMs)), .int8s(outcomes.removed.map(\.value)), .bool(outcomes.isGone),
                ]
            ) { continuation.resume(returning: $0) }
        }
        return try await decoded { try result.get().first?.bool(0) ?? false }
    }
}

extension LeasedWebhook {
    fileprivate init(_ row: Row) throws {
        id = WebhookID(try row.uuid(0))
        turn = try row.int8(1)
        revision = Int(try row.int4(2))
        // A type that only a newer node knows is left out here, and its events stay for that node's filter to add.
        types = row.isNull(4) ? nil : Set(try row.texts(4).compactMap(EventType.init))
        isThin = try row.bool(5)
        isOrdered = try row.bool(6)
        target = WebhookTarget(
            url: try row.text(3), secrets: [try row.bytes(7)] + (try row.bytesOrNull(8).map { [$0] } ?? []))
    }
}
