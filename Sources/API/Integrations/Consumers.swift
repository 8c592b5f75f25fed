// /v1/admin/consumers: named readers of the changes feed, whose cursors the service keeps.
import Domain
import Store

extension ChangesCalls {
    var consumerRoutes: [Route] {
        let (consumers, consumer) = ("/v1/admin/consumers", "/v1/admin/consumers/{name}")
        return [
            Route(
                .get, consumers, .adminListConsumers, query: .read,
                .adminList(.changes, "consumers") { request in
                    let (consumers, next) = try await store.consumers(request)
                    return Page(items: consumers.map(\.json), next: next)
                }),
            Route(.get, consumer, .adminGetConsumer, .admin(.changes, getConsumer)),
            Route(.put, consumer, .adminPutConsumer, body: .small, .admin(.changes, putConsumer)),
            Route(
                .delete, consumer, .adminDeleteConsumer,
                .adminDone(.changes) { try await store.deleteConsumer($0.consumer(), by: $1) }),
        ]
    }

    private func getConsumer(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        guard let consumer = try await store.consumer(call.consumer()) else { throw Problem.consumerNotFound }
        return .json(consumer.json)
    }

    private func putConsumer(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        guard let text = call.parameters["name"] else { throw Problem.consumerNotFound }
        let start = try await call.fields(isOptional: true) { fields in try ConsumerStart(&fields) }
        let name: ConsumerName
        do {
            name = try ConsumerName(text: String(text))
        } catch {
            throw Problem.invalid(error.inside("name").fields)
        }
        var cursor = start.cursor
        if let since = start.since { cursor = try await store.changes(since: since) }
        switch try await store.putConsumer(name, at: cursor, by: actor) {
        case .created(let consumer): return .made(true, consumer.json)
        case .set(let consumer), .behind(let consumer): return .made(false, consumer.json)
        case .expired: return try await expiry(of: cursor ?? Cursor(epoch: 1, position: .start))
        }
    }
}

/// Where a consumer is to continue. Without a value: at the end of the log, if it is new.
private struct ConsumerStart: Sendable {
    var cursor: Cursor?
    var since: Timestamp?

    init(_ fields: inout Fields<JSONValue>) throws {
        cursor = fields.optional("cursor", Cursor.self)
        since = fields.optional("since", Timestamp.self)
        if cursor != nil, since != nil { fields.refuse("since", "Must not be given together with `cursor`.") }
        try fields.end()
    }
}

extension Call {
    /// The consumer of the path. A text that no consumer has as name gets the same answer as an unknown one.
    fileprivate func consumer() throws(Problem) -> ConsumerName {
        guard let text = parameters["name"], let name = try? ConsumerName(text: String(text)) else {
            throw .consumerNotFound
        }
        return name
    }
}

extension Problem {
    static let consumerNotFound = Problem(.consumerNotFound, "There is no such consumer.")
}

extension Consumer {
    /// The consumer as administrators see it.
    var json: JSONText {
        var writer = JSONWriter(reserving: 256)
        writer.raw("{\"name\":")
        writer.write(name)
        writer.raw(",\"cursor\":")
        writer.write(cursor.description)
        writer.raw(",\"lag_events\":")
        writer.write(Int(lagEventCount))
        writer.raw(",\"lag_seconds\":")
        writer.raw(JSONText(utf8: Array("\(Double(lagMs) / 1000)".utf8)))
        writer.raw(hasExpired ? ",\"expired\":true" : ",\"expired\":false")
        writer.raw(",\"created_at\":")
        writer.write(createdAt.description)
        writer.raw(",\"moved_at\":")
        writer.write(movedAt.description)
        writer.raw("}")
        return JSONText(utf8: writer.utf8)
    }
}
