// The changes feed: acknowledging, and how an event is shown. The feed itself is in Feed.
import Domain
import Store

/// The calls on the changes feed and on its consumers, which are in Consumers.swift.
package struct ChangesCalls: Sendable {
    let store: Store
    private let endpoint: ChangesEndpoint

    package init(_ services: CallServices, metrics: ChangesMetrics) {
        store = services.store
        let feed = ChangesFeed(store: store, hub: services.log.hub, metrics: metrics)
        endpoint = ChangesEndpoint(store, feed, adminGuard: services.adminGuard, logger: services.logger)
    }

    package var routes: [Route] {
        consumerRoutes + [
            Route(.get, "/v1/admin/changes", .adminListChanges, query: .read, .directAdmin(.changes, endpoint.handle)),
            Route(
                .post, "/v1/admin/changes/ack", .adminAckChanges, body: .small, repeats: .ignored,
                .admin(.changes, acknowledge)),
        ]
    }

    private func acknowledge(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let (name, cursor) = try await call.fields { fields in
            let name = fields.required("consumer", ConsumerName.self)
            let cursor = fields.required("cursor", Cursor.self)
            return try fields.values(name, cursor)
        }
        switch try await store.acknowledge(cursor, for: name, by: actor) {
        case .created(let consumer), .set(let consumer): return .json(consumer.json)
        case .behind(let consumer):
            return ProblemDocument.answer(
                Problem(
                    .cursorBehind,
                    "The consumer has acknowledged a later cursor. PUT /v1/admin/consumers/\(name.text) goes back."),
                extra: [("cursor", consumer.cursor.json)])
        case .expired: return try await expiry(of: cursor)
        }
    }

    /// 410 with the cursor from which nothing is missed that the log still has.
    func expiry(of cursor: Cursor) async throws -> Answer {
        guard case .expired(let next) = try await store.changes(after: cursor, limit: 1) else { throw Problem.busy }
        return .changesExpired(next)
    }
}

extension Answer {
    static func changesExpired(_ next: Cursor) -> Answer {
        ProblemDocument.answer(
            Problem(
                .cursorExpired,
                "The log no longer has all events after this cursor. Continue from the new one, and compare with "
                    + "what you have: events are missing, or have never happened."),
            extra: [("cursor", next.json)])
    }
}

extension Cursor {
    /// The cursor as a JSON string.
    var json: JSONText { JSONText(utf8: Array("\"\(self)\"".utf8)) }
}

extension Change {
    /// The event as the feed shows it, on one line.
    package var json: [UInt8] {
        var head = #"{"id":"\#(id)","type":"\#(type)""#
        if let thread { head += #","thread_id":"\#(thread)""# }
        head += #","at":"\#(at)""#
        if let actor { head += #","actor":"\#(actor)""# }
        head += #","data":"#
        var bytes: [UInt8] = []
        bytes.reserveCapacity(head.utf8.count + data.utf8.count + 1)
        bytes.append(contentsOf: head.utf8)
        // The database may print line breaks in JSON, only between values.
        bytes.append(contentsOf: data.utf8.lazy.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}
