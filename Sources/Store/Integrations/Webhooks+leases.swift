// Delivering to endpoints: which node does, from where, and what became of it.
import Domain
import Postgres

/// An endpoint that a node delivers to, for as long as its lease lasts.
package struct LeasedWebhook: Sendable, Equatable {
    package var id: WebhookID
    /// Grows with each claim. What is recorded with an earlier number is refused.
    package var claim: Int64
    /// Counts the changes of the endpoint. The log is read by the present revision only.
    package var revision: Int
    package var target: WebhookTarget
    package var isThin: Bool
    package var isOrdered: Bool
}

/// What the log has for an endpoint after a place.
package enum WebhookChanges: Sendable {
    /// The claim is over, or the endpoint has other settings.
    case superseded
    case read(Changes)
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
        try await rows("webhook_tend", [.text(node), .ids(held), .int(limit), .int(leaseSeconds)]) {
            try LeasedWebhook($0)
        }
    }

    /// Ends a lease: another node may claim the endpoint at once. The call runs to its end even if its task is cancelled,
    /// because a node releases its endpoints while it stops.
    package func releaseWebhook(_ id: WebhookID, claim: Int64) async throws {
        try await finishing.call("webhook_release", [.id(id), .int8(claim)])
    }

    /// Returns where delivering goes on; nil if the claim is over.
    package func openWebhook(_ id: WebhookID, claim: Int64) async throws -> WebhookPlace? {
        try await firstRow("webhook_open", [.id(id), .int8(claim)]) { row in
            WebhookPlace(
                cursor: Cursor(epoch: try row.int4(0), position: Position(try row.int8(1))),
                droppedCount: Int(try row.int8(2)))
        }
    }

    /// Returns the events of the log that an endpoint's types select, as `changes` does, from one snapshot with its
    /// settings. What `webhook` has is true of each of them.
    ///
    /// - Parameter positions: reads the events at these positions instead, whatever their types.
    package func changes(
        for webhook: LeasedWebhook, after cursor: Cursor, at positions: [Position]? = nil, limit: Int = 0
    ) async throws -> WebhookChanges {
        let rows = try await reads.rows(
            "webhook_read",
            [
                .id(webhook.id), .int8(webhook.claim), .int(webhook.revision), .int4(cursor.epoch),
                .int8(cursor.position.value), .int(limit), .int(Page.byteCountMax),
                positions.map { .int8s($0.map(\.value)) } ?? .null,
            ])
        return try await decoded { rows.isEmpty ? .superseded : .read(try Changes(rows)) }
    }

    /// Returns the events of an endpoint that failed or wait, in order.
    package func openDeliveries(_ id: WebhookID, after: Position, limit: Int) async throws -> [OpenDelivery] {
        try await rows("webhook_open_deliveries", [.id(id), .int8(after.value), .int(limit)]) { row in
            OpenDelivery(
                position: Position(try row.int8(0)), event: try row.text(1),
                thread: try row.uuidOrNull(2).map { ThreadID($0) }, atMs: try row.int8(3),
                tryCount: Int(try row.int4(5)), nextMs: try row.int2(4) == 1 ? try row.int8OrNull(6) : nil,
                status: row.isNull(7) ? nil : Int(try row.int4(7)), reason: try row.textOrNull(8))
        }
    }

    /// Records outcomes and the cursor. Returns whether the claim lasts; otherwise nothing was recorded. The call runs to
    /// its end even if its task is cancelled, because what was delivered must be recorded.
    ///
    /// - Parameter revision: of the settings by which the events were sent. A 410 disables no other revision.
    package func settleWebhook(
        _ id: WebhookID, claim: Int64, revision: Int, cursor: Cursor, _ outcomes: WebhookOutcomes
    ) async throws -> Bool {
        let (delivered, open) = (outcomes.delivered, outcomes.open)
        return try await finishing.value(
            "webhook_settle",
            [
                .id(id), .int8(claim), .int4(cursor.epoch), .int8(cursor.position.value),
                .int8s(delivered.map { $0.position.value }), .texts(delivered.map(\.event)),
                .int4s(delivered.map { Int32($0.status) }), .int4s(delivered.map { Int32($0.tryCount) }),
                .int8s(open.map { $0.delivery.position.value }), .texts(open.map(\.delivery.event)),
                .uuids(open.map { $0.delivery.thread?.uuid }), .int8s(open.map(\.delivery.atMs)),
                .int4s(open.map(\.state.rawValue)), .int4s(open.map { Int32($0.delivery.tryCount) }),
                .int4s(open.map { $0.delivery.status.map(Int32.init) }), .texts(open.map(\.delivery.reason)),
                .int8s(open.map(\.delivery.nextMs)), .int8s(outcomes.removed.map(\.value)), .bool(outcomes.isGone),
                .int(revision),
            ]
        ) { try $0.bool(0) }
    }
}

extension LeasedWebhook {
    fileprivate init(_ row: Row) throws {
        id = WebhookID(try row.uuid(0))
        claim = try row.int8(1)
        revision = Int(try row.int4(2))
        isThin = try row.bool(4)
        isOrdered = try row.bool(5)
        target = WebhookTarget(
            url: try row.text(3), secrets: [try row.bytes(6)] + (try row.bytesOrNull(7).map { [$0] } ?? []))
    }
}
