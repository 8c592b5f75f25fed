// Named consumers of the changes feed, whose cursors the database keeps.
import Domain
import Postgres

/// A named consumer, and how far it is behind the log.
package struct Consumer: Sendable {
    package var name: String
    /// Everything up to here is processed.
    package var cursor: Cursor
    package var createdAt: Timestamp
    /// When the cursor was last set.
    package var movedAt: Timestamp
    /// Events of the log after the cursor, those included that integrations do not see.
    package var lagEventCount: Int64
    /// Since the oldest of them was written.
    package var lagMs: Int64
    /// Whether the log no longer has all of what follows the cursor.
    package var hasExpired: Bool
}

/// The result of setting a consumer's cursor.
package enum ConsumerMove: Sendable {
    case created(Consumer)
    /// The cursor is now this one, or was before.
    case set(Consumer)
    /// An acknowledgement came after a later one. The consumer is unchanged.
    case behind(Consumer)
    /// The log no longer has what follows this cursor. Nothing is changed.
    case expired
}

extension Store {
    /// Returns the consumer of a name; nil without one.
    package func consumer(_ name: ConsumerName) async throws -> Consumer? {
        try await reads.firstRow("consumer_get", [.text(name.text)]) { try $0.consumer() }
    }

    /// Returns a page of the consumers, the oldest first.
    package func consumers(_ request: PageRequest) async throws -> (consumers: [Consumer], next: PageKey?) {
        let rows = try await reads.rows("consumer_list", [.int(request.limit + 1), .uuid(orNull: request.after?.id)])
        return try await decoded {
            let found = try rows.map { (consumer: try $0.consumer(), id: try $0.uuid(8)) }
            let page = found.prefix(request.limit)
            let next = found.count > request.limit ? page.last.map { PageKey(rank: 0, id: $0.id) } : nil
            return (page.map(\.consumer), next)
        }
    }

    /// Sets a consumer's cursor, forward or back, or makes the consumer. Throws `too_many_consumers`.
    /// - Parameter cursor: nil for the log's head, and only if there is no such consumer.
    package func putConsumer(
        _ name: ConsumerName, at cursor: Cursor?, by actor: AdminActor
    ) async throws -> ConsumerMove {
        try await move("consumer_put", name, cursor, actor)
    }

    /// Records that a consumer has processed everything up to a cursor. Makes one that does not exist. Throws
    /// `too_many_consumers`.
    package func acknowledge(_ cursor: Cursor, for name: ConsumerName, by actor: AdminActor) async throws
        -> ConsumerMove
    {
        try await move("consumer_ack", name, cursor, actor)
    }

    /// Throws `consumer_not_found`.
    package func deleteConsumer(_ name: ConsumerName, by actor: AdminActor) async throws {
        try await call("consumer_delete", actor.parameters + [.text(name.text)])
    }

    private func move(
        _ function: String, _ name: ConsumerName, _ cursor: Cursor?, _ actor: AdminActor
    ) async throws -> ConsumerMove {
        try await row(
            function,
            actor.parameters + [
                .text(name.text), .int4(orNull: cursor?.epoch), .int8(orNull: cursor?.position.value),
                .int(ConsumerName.countMax),
            ]
        ) { row in
            switch try row.text(0) {
            case "expired": .expired
            case "created": .created(try row.consumer(from: 1))
            case "behind": .behind(try row.consumer(from: 1))
            default: .set(try row.consumer(from: 1))
            }
        }
    }
}

extension Row {
    /// - Parameter first: the column of the name.
    fileprivate func consumer(from first: Int = 0) throws -> Consumer {
        Consumer(
            name: try text(first),
            cursor: Cursor(epoch: try int4(first + 1), position: Position(try int8(first + 2))),
            createdAt: Timestamp(microsSince1970: try timestamp(first + 3)),
            movedAt: Timestamp(microsSince1970: try timestamp(first + 4)), lagEventCount: try int8(first + 5),
            lagMs: try int8(first + 6), hasExpired: try bool(first + 7))
    }
}
