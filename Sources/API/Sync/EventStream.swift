// One event stream: a long poll that repeats itself. It gets what a chain of polls gets, by the same rules and from the
// same mailbox. Between two answers it is a parked poll.
import Domain
import Log
import NIOCore
import Synchronization
import Transport

/// A connected client that receives a series of answers. Its next poll starts when the client has received the last
/// answer. So at most one answer waits for a slow client, and later events stay in the log.
package final class EventStream: Waiter, StreamSource {
    /// The same bytes for many streams.
    typealias Piece = (bytes: ByteBuffer, streams: [ResponseStream])

    /// A quiet stream sends a heartbeat this often. Most proxies close a connection that is silent for a minute.
    private static let heartbeatMs = 20_000

    private struct State {
        /// The position after the last event that was sent.
        var cursor: Cursor
        /// The poll that was parked last.
        var poll: UInt64?
        /// A read of the database.
        var reading: Task<Void, Never>?
        var end = StreamMetrics.End.gone
    }

    private let services: SyncServices
    private let reply: Reply
    private let identity: Identity
    private let limit: Int
    private let state: Mutex<State>

    init(_ services: SyncServices, _ reply: Reply, _ identity: Identity, limit: Int, from cursor: Cursor) {
        self.services = services
        self.reply = reply
        self.identity = identity
        self.limit = limit
        state = Mutex(State(cursor: cursor))
        services.streamMetrics.begin()
    }

    deinit { services.streamMetrics.end(state.withLock { $0.end }) }

    /// Begins the answer to the request, with the answer of the first poll in it.
    func begin(_ answer: PollAnswer) {
        switch answer {
        case .events(let events, let upTo, _):
            state.withLock { $0.cursor = upTo }
            begin(EventStreamFormat.opening(events, upTo: upTo))
        case .revoked, .closing, .displaced:
            // An empty stream that ends at once. Its client reconnects, and the next answer has the reason.
            begin(EventStreamFormat.opening([], upTo: state.withLock { $0.cursor }))
            finish(answer)
        }
    }

    private func begin(_ first: ByteBuffer) {
        reply.stream(
            .ok, headers: EventStreamFormat.headers, operation: OperationID.sync.rawValue, first: first, source: self)
    }

    // MARK: On the event loop

    package func streamHasRoom() {
        guard !reply.isClientGone else { return }
        guard services.authenticator.goesOn(identity.session) else { return end(.signedOut) }
        let cursor = state.withLock { $0.cursor }
        let outcome = services.hub.poll(
            identity, from: cursor, limit: limit, waitMs: Self.heartbeatMs, waiter: self, acks: false, isGiven: true)
        switch outcome {
        case .answer(let answer): send(answer)
        case .parked(let poll):
            state.withLock { $0.poll = poll }
            // The session may have ended between the check and the parking. The event that ends its polls has passed
            // then.
            if services.authenticator.sessions.isRevoked(identity.session),
                services.hub.cancel(identity.user, poll: poll)
            {
                end(.signedOut)
            }
        case .cold, .expired:
            // As with a poll: the task is as short as its queries, and is cancelled when the client goes away.
            let reading = Task { await self.read(from: cursor) }
            state.withLock { $0.reading = reading }
        }
    }

    package func clientIsGone() {
        let (poll, reading) = state.withLock { ($0.poll, $0.reading) }
        reading?.cancel()
        if let poll { services.hub.cancel(identity.user, poll: poll) }
    }

    // MARK: From any thread

    private func read(from cursor: Cursor) async {
        do {
            let outcome = try await services.reads.run(for: identity.user) {
                try await services.hub.read(identity, from: cursor, limit: limit, waitMs: 0, waiter: self, acks: false)
            }
            switch outcome {
            case .answer(.events(let events, let upTo, _)) where events.isEmpty:
                // There is nothing to send, but from this cursor on the mailbox has everything.
                state.withLock { $0.cursor = upTo }
                reply.eventLoop.execute { self.streamHasRoom() }
            case .answer(let answer): send(answer)
            // The client reconnects with its cursor, and gets the 410 then.
            case .expired: end(.expired)
            case .cold, .parked: end(.failed)
            }
        } catch is CancellationError {
            end(.gone)
        } catch {
            log(error)
            end(.failed)
        }
    }

    private func log(_ error: any Error) {
        guard let cause = Failure(error).cause else { return }
        services.logger.error("event stream failed; the client reconnects", metadata: ["reason": "\(cause)"])
    }

    private func send(_ answer: PollAnswer) {
        guard case .events(let events, let upTo, _) = answer else { return finish(answer) }
        state.withLock { $0.cursor = upTo }
        reply.body.send(EventStreamFormat.piece(events, upTo: upTo))
    }

    private func finish(_ answer: PollAnswer) {
        switch answer {
        case .events: break
        case .revoked: end(.signedOut)
        case .closing: end(.stopping)
        case .displaced(let upTo):
            // Its client will reconnect, which then ends the oldest of the other streams. So it must not reconnect at
            // once.
            end(.displaced, last: EventStreamFormat.opening(upTo, retryMs: EventStreamFormat.displacedRetryMs))
        }
    }

    /// Ends the stream. A stream has no status for a reason: the client learns it when it reconnects.
    private func end(_ end: StreamMetrics.End, last: ByteBuffer = ByteBuffer()) {
        state.withLock { $0.end = end }
        reply.body.end(last)
    }

    /// Adds an answer to streams that waited for it to `pieces`, rendered once.
    static func answer(_ streams: [EventStream], _ answer: PollAnswer, _ pieces: inout [Piece]) {
        guard case .events(let events, let upTo, _) = answer else { return streams.forEach { $0.finish(answer) } }
        for stream in streams { stream.state.withLock { $0.cursor = upTo } }
        pieces.append((EventStreamFormat.piece(events, upTo: upTo), streams.map(\.reply.body)))
    }
}
