// One stream of server-sent events: a long poll that asks again by itself. So it gets what a chain of polls gets, under
// the same rules and from the same mailbox, and between two answers it is nothing but a poll that is parked.
import Domain
import Log
import NIOCore
import Synchronization
import Transport

/// A client that stays and is written to. Its next poll is made when it has taken the last one's answer: who reads
/// slowly has one answer waiting and no more, and what comes meanwhile stays in the log.
package final class EventStream: Waiter, StreamSource {
    private struct State {
        /// What has been sent.
        var cursor: Cursor
        /// The poll that was parked last.
        var poll: UInt64?
        /// A read of the database.
        var reading: Task<Void, Never>?
        var end = StreamMetrics.End.gone
    }

    private let streams: EventStreams
    private let reply: Reply
    private let identity: Identity
    private let limit: Int
    private let state: Mutex<State>

    init(_ streams: EventStreams, _ reply: Reply, _ identity: Identity, limit: Int, from cursor: Cursor) {
        self.streams = streams
        self.reply = reply
        self.identity = identity
        self.limit = limit
        state = Mutex(State(cursor: cursor))
        streams.metrics.begin()
    }

    deinit { streams.metrics.end(state.withLock { $0.end }) }

    /// Answers the request with this stream, and in it with what a poll was answered.
    func begin(_ answer: PollAnswer) {
        guard case .events(let events, let upTo, _) = answer else {
            // Nobody waits here any more, or the node is going away: an empty stream makes the client ask another.
            begin(Self.opening(state.withLock { $0.cursor }))
            return finish(answer)
        }
        state.withLock { $0.cursor = upTo }
        var first = Self.opening(events.isEmpty ? upTo : nil)
        if !events.isEmpty { first.writeEvents(events, upTo: upTo) }
        begin(first)
    }

    private func begin(_ first: ByteBuffer) {
        reply.stream(
            .ok, headers: EventStreams.headers, operation: OperationID.sync.rawValue, first: first, source: self)
    }

    // MARK: On the event loop

    package func streamHasRoom() {
        guard !reply.isClientGone else { return }
        guard streams.authenticator.goesOn(identity.session) else { return end(.signedOut) }
        let cursor = state.withLock { $0.cursor }
        let outcome = streams.hub.poll(
            identity, from: cursor, limit: limit, waitMs: EventStreams.heartbeatMs, waiter: self, acks: false,
            isGiven: true)
        switch outcome {
        case .answer(let answer): send(answer)
        case .parked(let poll):
            state.withLock { $0.poll = poll }
            // Signed out between the check and the parking: the event that ends polls has gone by.
            if streams.authenticator.sessions.isRevoked(identity.session),
                streams.hub.cancel(identity.user, poll: poll)
            {
                end(.signedOut)
            }
        case .cold, .expired:
            // As with a poll: as long as its queries, which are bounded, and cancelled when the client goes away.
            let reading = Task { await self.read(from: cursor) }
            state.withLock { $0.reading = reading }
        }
    }

    package func clientIsGone() {
        let (poll, reading) = state.withLock { ($0.poll, $0.reading) }
        reading?.cancel()
        if let poll { streams.hub.cancel(identity.user, poll: poll) }
    }

    // MARK: From any thread

    private func read(from cursor: Cursor) async {
        do {
            let outcome = try await streams.reads.run(for: identity.user) {
                try await streams.hub.read(identity, from: cursor, limit: limit, waitMs: 0, waiter: self, acks: false)
            }
            switch outcome {
            case .answer(.events(let events, let upTo, _)) where events.isEmpty:
                // There is nothing to say; but from here on the mailbox has it.
                state.withLock { $0.cursor = upTo }
                reply.eventLoop.execute { self.streamHasRoom() }
            case .answer(let answer): send(answer)
            // The client asks again with its cursor, and is told so before the next stream begins.
            case .expired: end(.expired)
            case .cold, .parked: end(.failed)
            }
        } catch is CancellationError {
            end(.gone)
        } catch {
            streams.log(error)
            end(.failed)
        }
    }

    private func send(_ answer: PollAnswer) {
        guard case .events(let events, let upTo, _) = answer else { return finish(answer) }
        state.withLock { $0.cursor = upTo }
        reply.body.send(Self.piece(events, upTo: upTo))
    }

    private func finish(_ answer: PollAnswer) {
        switch answer {
        case .events: break
        case .revoked: end(.signedOut)
        case .closing: end(.stopping)
        case .displaced(let upTo):
            // Its client reconnects by itself, which ends the oldest stream of that time. So it must not do so at once.
            end(.displaced, last: Self.opening(upTo, retryMs: Self.displacedRetryMs))
        }
    }

    /// A stream has no status to say why it ends: whoever asks again is told.
    private func end(_ end: StreamMetrics.End, last: ByteBuffer = ByteBuffer()) {
        state.withLock { $0.end = end }
        reply.body.end(last)
    }

    /// Gives streams that waited the same answer, rendered once.
    static func answer(
        _ streams: [EventStream], _ answer: PollAnswer, _ pieces: inout [(bytes: ByteBuffer, streams: [ResponseStream])]
    ) {
        guard case .events(let events, let upTo, _) = answer else { return streams.forEach { $0.finish(answer) } }
        for stream in streams { stream.state.withLock { $0.cursor = upTo } }
        pieces.append((piece(events, upTo: upTo), streams.map(\.reply.body)))
    }
}

// MARK: The format (HTML Living Standard, 9.2.5)

extension EventStream {
    /// Milliseconds from which a client takes a moment to come back: different ones, so that those whose node has died
    /// don't come all at once.
    private static let retryMs = 1000...3000
    /// The same after a stream was ended to make room for a newer one of its session or account.
    private static let displacedRetryMs = 15_000...30_000

    /// What a stream begins with: when to come back, and where the client is unless events follow.
    static func opening(_ cursor: Cursor?, retryMs: ClosedRange<Int> = retryMs) -> ByteBuffer {
        var bytes = ByteBuffer(string: "retry: \(Int.random(in: retryMs))\n")
        if let cursor { bytes.writeString("id: \(cursor)\n") }
        bytes.writeStaticString("\n")
        return bytes
    }

    /// Events; without any the heartbeat: a comment, and an id, which moves a quiet client's place in the log on and is
    /// no event to it.
    static func piece(_ events: [Event], upTo: Cursor) -> ByteBuffer {
        guard events.isEmpty else {
            var bytes = ByteBufferAllocator().buffer(capacity: events.reduce(64) { $0 + $1.body.count + 48 })
            bytes.writeEvents(events, upTo: upTo)
            return bytes
        }
        return ByteBuffer(string: ":\nid: \(upTo)\n\n")
    }
}

extension ByteBuffer {
    /// The id of each event is the cursor after it, so that a client that got only some of them goes on behind those.
    fileprivate mutating func writeEvents(_ events: [Event], upTo: Cursor) {
        for (index, event) in events.enumerated() {
            let isLast = index == events.count - 1
            let cursor = isLast ? upTo : Cursor(epoch: upTo.epoch, position: event.position)
            writeString("id: \(cursor)\ndata: ")
            let start = writerIndex
            writeBytes(event.body)
            // JSON has line breaks only where it may as well have spaces; here one would end the field.
            if event.body.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
                for index in start..<writerIndex {
                    if let byte: UInt8 = getInteger(at: index), byte == 0x0A || byte == 0x0D {
                        setInteger(UInt8(ascii: " "), at: index)
                    }
                }
            }
            writeStaticString("\n\n")
        }
    }
}
