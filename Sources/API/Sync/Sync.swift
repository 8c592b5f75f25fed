// The long poll. Handled before the router: a waiting poll holds its connection's reply and nothing else.
import Domain
import HTTPTypes
import Log
import Logging
import NIOCore
import Store
import Transport

/// What a parked poll is, once all else about its request is forgotten.
package final class ParkedPollReply: Waiter {
    let reply: Reply
    /// Seconds of a `Prefer: wait` that was honoured.
    let preferredWaitS: Int?

    init(reply: Reply, preferredWaitS: Int?) {
        self.reply = reply
        self.preferredWaitS = preferredWaitS
    }
}

/// `GET /v1/sync`.
package final class SyncEndpoint: Sendable {
    package static let waitSDefault = 25

    private let authenticator: Authenticator
    private let hub: Hub
    private let store: Store
    private let catchUp: @Sendable () async throws -> Void
    private let logger: Logger
    private let streams: EventStreams
    private let reads: AccountReads

    /// - Parameters:
    ///   - reads: the bound that the router's calls share. A poll that is answered or parked at once does not count.
    ///   - catchUp: returns once the hub has all that was committed before the call.
    ///   - streams: how many answers are streams, and how they ended.
    package init(
        authenticator: Authenticator, hub: Hub, store: Store, reads: AccountReads,
        catchUp: @escaping @Sendable () async throws -> Void, streams: StreamMetrics = StreamMetrics(), logger: Logger
    ) {
        self.authenticator = authenticator
        self.hub = hub
        self.store = store
        self.reads = reads
        self.catchUp = catchUp
        self.logger = logger
        self.streams = EventStreams(
            authenticator: authenticator, hub: hub, store: store, reads: reads, metrics: streams, logger: logger)
    }

    private struct Poll: Sendable {
        /// Nil: where does the log stand?
        var cursor: Cursor?
        var limit: Int
        var waitMs: Int
        var preferredWaitS: Int?
    }

    /// On the connection's event loop. In steady state it ends with an answer or a parked reply, without a task.
    ///
    /// A poll that doesn't wait asks how things are now, and must show what was answered on any node before: it is not
    /// answered from a mailbox until the tail has caught up. HEAD never waits.
    package func handle(_ request: InboundRequest, _ reply: Reply) {
        do {
            let known = try authenticator.known(request.headers[.authorization])
            var poll = try Self.parse(request)
            if request.method == .head { poll.waitMs = 0 }
            if EventStreams.areAccepted(by: request.headers.first(.accept)) {
                let cursor = try EventStreams.lastSeen(request.headers.first(.lastEventID)) ?? poll.cursor
                return streams.open(known, from: cursor, limit: poll.limit, reply, request.number)
            }
            let waiter = ParkedPollReply(reply: reply, preferredWaitS: poll.preferredWaitS)
            if case .identity(let identity) = known, let cursor = poll.cursor, poll.waitMs > 0 {
                let outcome = hub.poll(identity, from: cursor, limit: poll.limit, waitMs: poll.waitMs, waiter: waiter)
                if case .cold = outcome {} else { return finish(outcome, identity, waiter) }
            }
            // A callback has no task to be a child of. This one is as long as its queries, which are bounded, and is
            // cancelled when the client goes away.
            let number = request.number
            let task = Task { await self.ask(known, poll, waiter, number) }
            reply.onClientGone { task.cancel() }
        } catch {
            reply.send(Self.refusal(error))
        }
    }

    private func ask(_ known: Authenticator.Known, _ poll: Poll, _ waiter: ParkedPollReply, _ number: RequestNumber)
        async
    {
        do {
            let identity: Identity
            switch known {
            case .identity(let cached): identity = cached
            case .digest(let digest): identity = try await authenticator.find(digest)
            }
            guard let cursor = poll.cursor else {
                let now = try await reads.run(for: identity.user) { try await store.now() }
                return finish(.answer(.events([], upTo: now, more: false)), identity, waiter)
            }
            // Another node may have given this cursor a moment ago.
            if poll.waitMs == 0 || cursor.position > hub.head.position { try await catchUp() }
            var outcome = hub.poll(identity, from: cursor, limit: poll.limit, waitMs: poll.waitMs, waiter: waiter)
            if case .cold = outcome {
                outcome = try await reads.run(for: identity.user) {
                    try await hub.read(
                        identity, from: cursor, limit: poll.limit, waitMs: poll.waitMs, waiter: waiter)
                }
            }
            if case .expired = outcome {
                waiter.reply.send(
                    try await reads.run(for: identity.user) { try await Self.expiry(of: cursor, identity, store) })
            } else {
                finish(outcome, identity, waiter)
            }
        } catch {
            waiter.reply.send(Self.failure(error, number, logger))
        }
    }

    private func finish(_ outcome: Hub.Outcome, _ identity: Identity, _ waiter: ParkedPollReply) {
        switch outcome {
        case .answer(let answer):
            waiter.reply.send(Self.response(to: answer, preferredWaitS: waiter.preferredWaitS))
        case .parked(let poll):
            let hub = hub
            waiter.reply.onClientGone { hub.cancel(identity.user, poll: poll) }
            // Signed out between the check of the token and the parking: the event that ends polls has gone by.
            if authenticator.sessions.isRevoked(identity.session), hub.cancel(identity.user, poll: poll) {
                waiter.reply.send(Self.refusal(.badToken))
            }
        case .cold, .expired:
            // Both were dealt with where they came up.
            waiter.reply.send(Self.refusal(.busy))
        }
    }

    private static func parse(_ request: InboundRequest) throws(Problem) -> Poll {
        let query = try SyncQuery(request.query ?? "")
        let preferred = query.waitS == nil ? preferredWaitS(request.headers[.prefer]) : nil
        let waitS = query.waitS ?? preferred ?? waitSDefault
        return Poll(cursor: query.cursor, limit: query.limit, waitMs: waitS * 1000, preferredWaitS: preferred)
    }

    /// `wait` of a Prefer header (RFC 7240), cut to what is allowed: a preference can't be an error.
    private static func preferredWaitS(_ header: String?) -> Int? {
        guard let seconds = header.flatMap({ PreferHeader.waitS(in: $0) }) else { return nil }
        return min(max(seconds, 0), SyncQuery.waitSMax)
    }
}

// MARK: Answers

extension SyncEndpoint {
    private static func response(to answer: PollAnswer, preferredWaitS: Int?) -> OutboundResponse {
        switch answer {
        case .events(let events, let upTo, let more):
            response(body(events, upTo, more), preferredWaitS)
        case .closing(let upTo):
            response(body([], upTo, false), preferredWaitS, closes: true)
        case .displaced(let upTo):
            response(body([], upTo, false), preferredWaitS)
        case .revoked:
            refusal(.badToken)
        }
    }

    private static func response(
        _ body: ByteBuffer, _ preferredWaitS: Int?, closes: Bool = false
    ) -> OutboundResponse {
        var headers = Headers.json
        if let preferredWaitS { headers[.preferenceApplied] = "wait=\(preferredWaitS)" }
        return OutboundResponse(
            status: .ok, headers: headers, body: body, closesConnection: closes, operation: OperationID.sync.rawValue)
    }

    static func refusal(_ problem: Problem, extra: [(String, JSONText)] = []) -> OutboundResponse {
        var response = ProblemDocument.answer(problem, extra: extra).outbound
        response.operation = OperationID.sync.rawValue
        return response
    }

    static func failure(_ error: any Error, _ number: RequestNumber, _ logger: Logger) -> OutboundResponse {
        var response = Failure(error).answer(requestID: number.text, logger: logger).outbound
        response.operation = OperationID.sync.rawValue
        return response
    }

    /// 410, with where to go on and the threads to load again.
    static func expiry(of cursor: Cursor, _ identity: Identity, _ store: Store) async throws -> OutboundResponse {
        let fresh = try await store.restart(identity.user, from: cursor)
        let problem = Problem(
            .cursorExpired, "This cursor has expired. Reload the threads listed here, then sync from the new cursor.")
        let place = JSONText(utf8: Array("\"\(fresh.cursor)\"".utf8))
        return refusal(problem, extra: [("cursor", place), ("threads", fresh.threads)])
    }

    private static func body(_ events: [Event], _ upTo: Cursor, _ more: Bool) -> ByteBuffer {
        let byteCount = events.reduce(96) { $0 + $1.body.count + 1 }
        var buffer = ByteBufferAllocator().buffer(capacity: byteCount)
        buffer.writeStaticString("{\"events\":[")
        for (index, event) in events.enumerated() {
            if index > 0 { buffer.writeInteger(UInt8(ascii: ",")) }
            buffer.writeBytes(event.body)
        }
        buffer.writeString("],\"cursor\":\"\(upTo)\",\"more\":\(more)}")
        return buffer
    }

    /// Answers parked polls, and streams. Those that get the same share one rendering, however many they are.
    package static func send(_ wakes: [Wake]) {
        var answers: [(OutboundResponse, [Reply])] = []
        var pieces: [(bytes: ByteBuffer, streams: [ResponseStream])] = []
        for wake in wakes {
            var replies: [Int?: [Reply]] = [:]
            var streams: [EventStream] = []
            for waiter in wake.waiters {
                if let poll = waiter as? ParkedPollReply {
                    replies[poll.preferredWaitS, default: []].append(poll.reply)
                } else if let stream = waiter as? EventStream {
                    streams.append(stream)
                }
            }
            if !streams.isEmpty { EventStream.answer(streams, wake.answer, &pieces) }
            for (preferredWaitS, replies) in replies {
                var answer = response(to: wake.answer, preferredWaitS: preferredWaitS)
                answer.hasWaited = true
                answers.append((answer, replies))
            }
        }
        if !answers.isEmpty { sendAll(answers) }
        if !pieces.isEmpty { sendAll(pieces) }
    }
}

extension HTTPField.Name {
    static let lastEventID = Self("Last-Event-ID")!
    static let prefer = Self("Prefer")!
    static let preferenceApplied = Self("Preference-Applied")!
}
