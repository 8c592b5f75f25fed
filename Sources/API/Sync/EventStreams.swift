// How an event stream (server-sent events) on /v1/sync is requested and opened.
import Domain
import HTTPTypes
import Log
import Transport

/// Opens event streams.
final class EventStreams: Sendable {
    private let services: SyncServices

    init(_ services: SyncServices) { self.services = services }

    /// Whether an `Accept` header names the type of event streams. Called for every poll. Most headers are too short.
    static func areAccepted(by accept: String?) -> Bool {
        let type: StaticString = "text/event-stream"
        guard let accept, accept.utf8.count >= type.utf8CodeUnitCount else { return false }
        return AcceptHeader.names(type, in: accept)
    }

    /// The cursor in a `Last-Event-ID` header. Nil without one. Throws 422 for a value that no stream sent.
    static func lastSeen(_ header: String?) throws(Problem) -> Cursor? {
        guard let header, !header.isEmpty else { return nil }
        do {
            return try Cursor(text: header)
        } catch {
            throw .invalid(error.inside("Last-Event-ID").fields)
        }
    }

    /// Opens a stream. Refuses it for the same reasons as a poll. Without a cursor the stream begins at the end of the
    /// log. Called on the event loop.
    func open(
        _ known: Authenticator.Known, from cursor: Cursor?, limit: Int, _ reply: Reply, _ number: RequestNumber
    ) {
        if case .identity(let identity) = known, let cursor {
            let waiter = ParkedPollReply(reply: reply, preferredWaitS: nil)
            let outcome = services.hub.poll(identity, from: cursor, limit: limit, waitMs: 0, waiter: waiter)
            if case .answer(let answer) = outcome {
                return EventStream(services, reply, identity, limit: limit, from: cursor).begin(answer)
            }
        }
        reply.run { await self.read(known, cursor, limit: limit, reply, number) }
    }

    /// Opens a stream for which the database is needed.
    private func read(
        _ known: Authenticator.Known, _ cursor: Cursor?, limit: Int, _ reply: Reply, _ number: RequestNumber
    ) async {
        do {
            let identity = try await services.authenticator.identity(known)
            guard let cursor else {
                let now = try await services.now(for: identity.user)
                return EventStream(services, reply, identity, limit: limit, from: now)
                    .begin(.events([], upTo: now, more: false))
            }
            let waiter = ParkedPollReply(reply: reply, preferredWaitS: nil)
            let outcome = try await services.reads.run(for: identity.user) {
                try await services.hub.read(identity, from: cursor, limit: limit, waitMs: 0, waiter: waiter)
            }
            switch outcome {
            case .answer(let answer):
                EventStream(services, reply, identity, limit: limit, from: cursor).begin(answer)
            case .expired: reply.send(try await services.expiry(of: cursor, identity))
            case .cold, .parked: throw Problem.busy
            }
        } catch {
            reply.send(services.failure(error, number))
        }
    }
}
