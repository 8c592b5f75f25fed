// The long poll. It bypasses the router: a waiting poll holds its connection's reply and nothing else.
import Domain
import HTTPTypes
import Log
import Logging
import Store
import Transport
import Workers

/// A parked poll. Everything else about its request is released.
package final class ParkedPollReply: Waiter {
    let reply: Reply
    /// The seconds of a `Prefer: wait` that was applied.
    let preferredWaitS: Int?

    init(reply: Reply, preferredWaitS: Int?) {
        self.reply = reply
        self.preferredWaitS = preferredWaitS
    }
}

/// `GET /v1/sync`.
package final class SyncEndpoint: Sendable {
    static let path = "/v1/sync"
    package static let waitSDefault = 25

    private let services: SyncServices
    /// Returns once the hub has everything that was committed before the call.
    private let catchUp: @Sendable () async throws -> Void
    private let streams: EventStreams

    init(_ calls: CallServices) {
        services = SyncServices(calls)
        catchUp = calls.log.tail.catchUp
        streams = EventStreams(services)
    }

    var feature: Feature {
        Feature(
            routes: [Route(.get, Self.path, .sync, query: .read, .direct(handle))],
            components: [Component("streams", metrics: services.streamMetrics.write)])
    }

    private struct Poll: Sendable {
        /// Nil asks for the end of the log.
        var cursor: Cursor?
        var limit: Int
        var waitMs: Int
        var preferredWaitS: Int?
    }

    /// Answers or parks a poll, or opens an event stream. Called on the connection's event loop. In steady state no
    /// task is started.
    ///
    /// A poll that does not wait must see everything that any node answered before. So it is not answered from a
    /// mailbox until the tail has caught up. HEAD never waits.
    @Sendable func handle(_ request: InboundRequest, _ reply: Reply) {
        do {
            let known = try services.authenticator.known(request)
            var poll = try Self.parse(request)
            if request.method == .head { poll.waitMs = 0 }
            if EventStreams.areAccepted(by: request.headers.first(.accept)) {
                let cursor = try EventStreams.lastSeen(request.headers.first(.lastEventID)) ?? poll.cursor
                return streams.open(known, from: cursor, limit: poll.limit, reply, request.number)
            }
            let waiter = ParkedPollReply(reply: reply, preferredWaitS: poll.preferredWaitS)
            if case .identity(let identity) = known, let cursor = poll.cursor, poll.waitMs > 0 {
                let outcome = services.hub.poll(
                    identity, from: cursor, limit: poll.limit, waitMs: poll.waitMs, waiter: waiter)
                if case .cold = outcome {} else { return finish(outcome, identity, waiter) }
            }
            let number = request.number
            reply.run { [poll] in await self.read(known, poll, waiter, number) }
        } catch {
            reply.send(SyncAnswers.refusal(error))
        }
    }

    /// Answers or parks a poll for which the database is needed.
    private func read(
        _ known: Authenticator.Known, _ poll: Poll, _ waiter: ParkedPollReply, _ number: RequestNumber
    ) async {
        do {
            let identity = try await services.authenticator.identity(known)
            let hub = services.hub
            guard let cursor = poll.cursor else {
                let now = try await services.now(for: identity.user)
                return finish(.answer(.events([], upTo: now, more: false)), identity, waiter)
            }
            // Another node may have returned this cursor a moment ago.
            if poll.waitMs == 0 || cursor.position > hub.head.position { try await catchUp() }
            var outcome = hub.poll(identity, from: cursor, limit: poll.limit, waitMs: poll.waitMs, waiter: waiter)
            if case .cold = outcome {
                outcome = try await services.reads.run(for: identity.user) {
                    try await hub.read(
                        identity, from: cursor, limit: poll.limit, waitMs: poll.waitMs, waiter: waiter)
                }
            }
            if case .expired = outcome {
                waiter.reply.send(try await services.expiry(of: cursor, identity))
            } else {
                finish(outcome, identity, waiter)
            }
        } catch {
            waiter.reply.send(services.failure(error, number))
        }
    }

    private func finish(_ outcome: Hub.Outcome, _ identity: Identity, _ waiter: ParkedPollReply) {
        let hub = services.hub
        switch outcome {
        case .answer(let answer):
            waiter.reply.send(SyncAnswers.response(to: answer, preferredWaitS: waiter.preferredWaitS))
        case .parked(let poll):
            waiter.reply.onClientGone { hub.cancel(identity.user, poll: poll) }
            // The session may have ended after the check of the token and before the poll was parked. The event that
            // ends polls came too early for this one.
            if services.authenticator.sessions.isRevoked(identity.session), hub.cancel(identity.user, poll: poll) {
                waiter.reply.send(SyncAnswers.refusal(.badToken))
            }
        case .cold, .expired:
            // The callers have handled both.
            waiter.reply.send(SyncAnswers.refusal(.busy))
        }
    }

    private static func parse(_ request: InboundRequest) throws(Problem) -> Poll {
        let query = try SyncQuery(request.query ?? "")
        let preferred = query.waitS == nil ? preferredWaitS(request.headers[.prefer]) : nil
        let waitS = query.waitS ?? preferred ?? waitSDefault
        return Poll(cursor: query.cursor, limit: query.limit, waitMs: waitS * 1000, preferredWaitS: preferred)
    }

    /// The `wait` of a Prefer header (RFC 7240), clamped to the allowed range: a preference is never an error.
    static func preferredWaitS(_ header: String?) -> Int? {
        guard let seconds = header.flatMap({ PreferHeader.waitS(in: $0) }) else { return nil }
        return min(max(seconds, 0), SyncQuery.waitSMax)
    }

    /// Answers parked polls and waiting streams. Those with the same answer share one rendering.
    package static func send(_ wakes: [Wake]) {
        var answers: [(OutboundResponse, [Reply])] = []
        var pieces: [EventStream.Piece] = []
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
                var answer = SyncAnswers.response(to: wake.answer, preferredWaitS: preferredWaitS)
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
}
