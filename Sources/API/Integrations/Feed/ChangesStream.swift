// The changes feed as server-sent events: a long poll that repeats itself.
import Domain
import NIOCore
import Synchronization
import Transport

/// A connected reader. The next events are read when the client has received the last ones.
final class ChangesStream: StreamSource {
    /// A quiet stream sends a heartbeat this often. Most proxies close a connection that is silent for a minute.
    private static let heartbeat = Duration.seconds(20)

    private struct State {
        var cursor: Cursor?
        var reading: Task<Void, Never>?
    }

    private let feed: ChangesFeed
    private let reply: Reply
    private let types: Set<EventType>?
    private let limit: Int
    /// Whether the reader's token is still valid.
    private let isAllowed: @Sendable () -> Bool
    private let state = Mutex(State())

    /// The caller has entered the feed for this stream.
    init(
        _ feed: ChangesFeed, _ reply: Reply, types: Set<EventType>?, limit: Int,
        isAllowed: @escaping @Sendable () -> Bool
    ) {
        self.feed = feed
        self.reply = reply
        self.types = types
        self.limit = limit
        self.isAllowed = isAllowed
    }

    deinit { feed.leave() }

    /// Begins the answer with the first events in it.
    func begin(_ part: ChangesPart) {
        state.withLock { $0.cursor = part.cursor }
        var bytes = EventStreamFormat.opening(part.changes.isEmpty ? part.cursor : nil)
        if !part.changes.isEmpty { bytes.writeImmutableBuffer(Self.piece(part)) }
        reply.stream(
            .ok, headers: EventStreamFormat.headers, operation: OperationID.adminListChanges.rawValue, first: bytes,
            source: self)
    }

    // MARK: On the event loop

    func streamHasRoom() {
        guard !reply.isClientGone, let cursor = state.withLock({ $0.cursor }) else { return }
        // The task is as short as a poll's, and is cancelled when the client goes away.
        let reading = Task { await self.read(after: cursor) }
        state.withLock { $0.reading = reading }
    }

    func clientIsGone() { state.withLock { $0.reading }?.cancel() }

    // MARK: From any thread

    /// A stream has no status for the reason of its end: the client learns it when it reconnects.
    private func read(after cursor: Cursor) async {
        guard
            let part = try? await feed.next(after: cursor, types: types, limit: limit, wait: Self.heartbeat),
            !feed.isClosing, isAllowed()
        else { return reply.body.end() }
        state.withLock { $0.cursor = part.cursor }
        reply.body.send(Self.piece(part))
    }

    /// Events, each with the cursor after it as id. Without any, a comment with an id: the client sees no event.
    private static func piece(_ part: ChangesPart) -> ByteBuffer {
        guard let last = part.changes.last else { return ByteBuffer(string: ":\nid: \(part.cursor)\n\n") }
        var bytes = ByteBuffer()
        for change in part.changes {
            let isLast = change.id == last.id
            let cursor = isLast ? part.cursor : Cursor(epoch: part.cursor.epoch, position: change.id.position)
            bytes.writeString("id: \(cursor)\ndata: ")
            bytes.writeBytes(change.json)
            bytes.writeStaticString("\n\n")
        }
        return bytes
    }
}
