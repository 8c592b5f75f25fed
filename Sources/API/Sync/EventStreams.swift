// Server-sent events on /v1/sync: how a stream is asked for and begun, and what is counted of them.
import Domain
import HTTPTypes
import Log
import Logging
import Store
import Synchronization
import Telemetry
import Transport

/// What all streams of a node share.
final class EventStreams: Sendable {
    /// A quiet stream says so this often: proxies cut what is silent for longer, a minute with most of them.
    static let heartbeatMs = 20_000

    /// Proxies must not gather what they pass on (`X-Accel-Buffering`, nginx).
    static let headers: HTTPFields = {
        var headers = Headers.of(type: "text/event-stream")
        headers[.xAccelBuffering] = "no"
        return headers
    }()

    let authenticator: Authenticator
    let hub: Hub
    let metrics: StreamMetrics
    let reads: AccountReads
    private let store: Store
    private let logger: Logger

    init(
        authenticator: Authenticator, hub: Hub, store: Store, reads: AccountReads, metrics: StreamMetrics,
        logger: Logger
    ) {
        self.reads = reads
        self.authenticator = authenticator
        self.hub = hub
        self.store = store
        self.metrics = metrics
        self.logger = logger
    }

    /// Whether an `Accept` header names the type. Every poll is asked, and most can be told by their length.
    static func areAccepted(by accept: String?) -> Bool {
        let type: StaticString = "text/event-stream"
        guard let accept, accept.utf8.count >= type.utf8CodeUnitCount else { return false }
        return AcceptHeader.names(type, in: accept)
    }

    /// The cursor in a `Last-Event-ID` header; nil without one. Throws 422 for what no stream gave.
    static func lastSeen(_ header: String?) throws(Problem) -> Cursor? {
        guard let header, !header.isEmpty else { return nil }
        do {
            return try Cursor(text: header)
        } catch {
            throw .invalid(error.inside("Last-Event-ID").fields)
        }
    }

    /// Begins a stream, or refuses it as a poll would be refused. Without a cursor it begins with now. On the event loop.
    func open(
        _ known: Authenticator.Known, from cursor: Cursor?, limit: Int, _ reply: Reply, _ number: RequestNumber
    ) {
        if case .identity(let identity) = known, let cursor {
            let waiter = ParkedPollReply(reply: reply, preferredWaitS: nil)
            if case .answer(let answer) = hub.poll(identity, from: cursor, limit: limit, waitMs: 0, waiter: waiter) {
                return EventStream(self, reply, identity, limit: limit, from: cursor).begin(answer)
            }
        }
        // A callback has no task to be a child of: as with a poll.
        let task = Task { await self.find(known, cursor, limit: limit, reply, number) }
        reply.onClientGone { task.cancel() }
    }

    private func find(
        _ known: Authenticator.Known, _ cursor: Cursor?, limit: Int, _ reply: Reply, _ number: RequestNumber
    ) async {
        do {
            let identity: Identity
            switch known {
            case .identity(let cached): identity = cached
            case .digest(let digest): identity = try await authenticator.find(digest)
            }
            guard let cursor else {
                let now = try await reads.run(for: identity.user) { try await store.now() }
                return EventStream(self, reply, identity, limit: limit, from: now)
                    .begin(.events([], upTo: now, more: false))
            }
            let waiter = ParkedPollReply(reply: reply, preferredWaitS: nil)
            let outcome = try await reads.run(for: identity.user) {
                try await hub.read(identity, from: cursor, limit: limit, waitMs: 0, waiter: waiter)
            }
            switch outcome {
            case .answer(let answer): EventStream(self, reply, identity, limit: limit, from: cursor).begin(answer)
            case .expired:
                reply.send(
                    try await reads.run(for: identity.user) {
                        try await SyncEndpoint.expiry(of: cursor, identity, store)
                    })
            case .cold, .parked: throw Problem.busy
            }
        } catch {
            reply.send(SyncEndpoint.failure(error, number, logger))
        }
    }

    /// A stream's end for a reason of ours.
    func log(_ error: any Error) {
        guard let cause = Failure(error).cause else { return }
        logger.error("event stream failed; the client reconnects", metadata: ["reason": "\(cause)"])
    }
}

/// How many streams there are, and how they ended.
package final class StreamMetrics: Sendable {
    /// Why a stream ended: `gone` is the client's going, or its having taken nothing for too long; `displaced`, that
    /// its session or account opened more than may wait.
    enum End: String, CaseIterable {
        case gone, signedOut, stopping, expired, failed, displaced
    }

    private let begun = Counter()
    private let ended = End.allCases.map { _ in Counter() }

    package init() {}

    func begin() { begun.add() }

    func end(_ end: End) { ended[End.allCases.firstIndex(of: end) ?? 0].add() }

    package func write(to text: inout MetricsText) {
        let counts = ended.map(\.value)
        text.gauge(
            "parley_streams", "Open event streams (server-sent events).", max(0, begun.value - counts.reduce(0, +)))
        text.counter("parley_streams_total", "Event streams opened.", begun.value)
        text.counter(
            "parley_streams_ended_total",
            "Event streams that ended, by reason. gone: the client left or stopped reading. displaced: its session or "
                + "account opened too many.",
            zip(End.allCases, counts).map { ([("reason", $0.rawValue)], $1) })
    }
}

extension HTTPField.Name {
    fileprivate static let xAccelBuffering = Self("X-Accel-Buffering")!
}
