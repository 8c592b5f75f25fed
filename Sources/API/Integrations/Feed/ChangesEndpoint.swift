// GET /v1/admin/changes: the log as integrations see it, by long poll or as server-sent events. Outside of the router,
// because polls wait and are answered when the node stops.
import Domain
import HTTPTypes
import Logging
import NIOCore
import Store
import Transport

/// `GET /v1/admin/changes`.
final class ChangesEndpoint: Sendable {
    private let store: Store
    private let feed: ChangesFeed
    private let adminGuard: AdminGuard
    private let logger: Logger

    init(_ store: Store, _ feed: ChangesFeed, adminGuard: AdminGuard, logger: Logger) {
        self.store = store
        self.feed = feed
        self.adminGuard = adminGuard
        self.logger = logger
    }

    @Sendable func handle(_ request: InboundRequest, _ reply: Reply, _ actor: AdminActor) {
        do {
            var query = try ChangesQuery(request.query ?? "")
            let isStream = EventStreams.areAccepted(by: request.headers.first(.accept))
            if isStream, let cursor = try EventStreams.lastSeen(request.headers.first(.lastEventID)) {
                query.start = .cursor(cursor)
            }
            let preferredWaitS = query.waitS == nil ? SyncEndpoint.preferredWaitS(request.headers[.prefer]) : nil
            let isHead = request.method == .head
            let waitS = isHead ? 0 : query.waitS ?? preferredWaitS ?? SyncEndpoint.waitSDefault
            let number = request.number
            reply.run { [query] in
                if isStream, !isHead {
                    await self.stream(query, actor, reply, number)
                } else {
                    await self.poll(query, actor, waitS: waitS, preferredWaitS: preferredWaitS, reply, number)
                }
            }
        } catch {
            reply.send(refusal(error, request.number))
        }
    }

    private func poll(
        _ query: ChangesQuery, _ actor: AdminActor, waitS: Int, preferredWaitS: Int?, _ reply: Reply,
        _ number: RequestNumber
    ) async {
        do {
            let cursor = try await start(query, actor)
            var part = ChangesPart(changes: [], cursor: cursor.value, more: false)
            if !cursor.isNew {
                try feed.enter()
                defer { feed.leave() }
                part = try await feed.next(
                    after: cursor.value, types: query.types, limit: query.limit, wait: .seconds(waitS))
                // The key may have been revoked while the poll waited.
                guard adminGuard.isValid(actor) else { throw Problem.badAdminKey }
            }
            var headers = Headers.json
            if let preferredWaitS { headers[.preferenceApplied] = "wait=\(preferredWaitS)" }
            var response = OutboundResponse(
                status: .ok, headers: headers, body: Self.body(part), closesConnection: feed.isClosing,
                operation: OperationID.adminListChanges.rawValue)
            response.hasWaited = waitS > 0
            reply.send(response)
        } catch {
            reply.send(refusal(error, number))
        }
    }

    private func stream(_ query: ChangesQuery, _ actor: AdminActor, _ reply: Reply, _ number: RequestNumber) async {
        do {
            let cursor = try await start(query, actor)
            // The first read refuses an expired cursor, as a poll is refused.
            let part = try await feed.next(after: cursor.value, types: query.types, limit: query.limit, wait: .zero)
            try feed.enter()
            ChangesStream(feed, reply, types: query.types, limit: query.limit) { [adminGuard] in
                adminGuard.isValid(actor)
            }.begin(part)
        } catch {
            reply.send(refusal(error, number))
        }
    }

    /// Returns where to begin, and whether that is the end of the log because nothing says otherwise.
    private func start(_ query: ChangesQuery, _ actor: AdminActor) async throws -> (value: Cursor, isNew: Bool) {
        switch query.start {
        case .head: return (try await store.now(), true)
        case .cursor(let cursor): return (cursor, false)
        case .time(let time): return (try await store.changes(since: time), false)
        case .consumer(let name):
            if let consumer = try await store.consumer(name) { return (consumer.cursor, false) }
            switch try await store.putConsumer(name, at: nil, by: actor) {
            case .created(let consumer): return (consumer.cursor, true)
            case .set(let consumer), .behind(let consumer): return (consumer.cursor, false)
            case .expired: throw Problem.busy
            }
        }
    }

    private func refusal(_ error: any Error, _ number: RequestNumber) -> OutboundResponse {
        var response =
            if let expired = error as? ChangesFeed.Expired {
                Answer.changesExpired(expired.next).outbound
            } else {
                Failure(error).answer(requestID: number.text, logger: logger).outbound
            }
        response.operation = OperationID.adminListChanges.rawValue
        return response
    }

    private static func body(_ part: ChangesPart) -> ByteBuffer {
        let events = part.changes.map(\.json)
        var buffer = ByteBufferAllocator().buffer(capacity: events.reduce(96) { $0 + $1.count + 1 })
        buffer.writeStaticString("{\"events\":[")
        for (index, event) in events.enumerated() {
            if index > 0 { buffer.writeInteger(UInt8(ascii: ",")) }
            buffer.writeBytes(event)
        }
        buffer.writeString("],\"cursor\":\"\(part.cursor)\",\"more\":\(part.more)}")
        return buffer
    }
}
