// A window on the messages of a thread. It shows what the store has, and fetches what it lacks.
import Foundation
internal import GRDB

/// The messages of a thread around a place, as a sequence of changes: first a snapshot of what this device has, then edits.
///
/// Each timeline has one window. It grows with `loadEarlier` and `loadLater`; a window that has reached the newest message
/// follows the thread. Holes are fetched by themselves, and again after a failure once the server answers.
public final class Timeline: AsyncSequence, Sendable {
    public typealias Element = ListChange<TimelineRow>
    public typealias AsyncIterator = LiveList<TimelineRow>.Iterator

    struct Window: Equatable {
        var first: Seq
        /// Nil: up to the newest message.
        var last: Seq?
    }

    private struct State {
        var anchor: TimelineAnchor?
        var window: Window?
        /// The last seq that was read when the timeline was opened, if something was unread.
        var readSeq: Seq?
        var bounds: (first: Seq, head: Seq) = (1, 0)
    }

    /// The thread of the timeline.
    public let threadID: ThreadID
    private let parts: Parts
    private let state: Locked<State>
    private let rows: TimelineQuery
    private let filler: Filler

    /// How many messages a window has at first.
    static let pageSize = 50
    /// A larger hole is not filled.
    static let holeMax = 500

    init(_ threadID: ThreadID, anchor: TimelineAnchor, parts: Parts) {
        self.threadID = threadID
        self.parts = parts
        state = Locked(State(anchor: anchor))
        rows = TimelineQuery(thread: threadID, outbox: parts.outbox)
        filler = Filler(thread: threadID, parts: parts)
    }

    deinit { parts.live.setWindow(nil, in: threadID, of: ObjectIdentifier(self)) }

    public func makeAsyncIterator() -> AsyncIterator {
        let id = threadID.rawValue
        return LiveList<TimelineRow>(hub: parts.store.changes) { changes in
            changes.all || changes.timelines.contains(id) || changes.threads.contains(id)
        } fetch: { [self] _ in
            try await read()
        }.makeAsyncIterator()
    }

    /// Whether the window begins with the first message that the user sees.
    public var isAtStart: Bool { state.withLock { ($0.window?.first ?? .max) <= $0.bounds.first } }

    /// Whether the window ends with the newest message, and follows the thread.
    public var isAtEnd: Bool { state.withLock { $0.window.map { $0.last == nil } ?? false } }

    /// Grows the window by earlier messages, and returns when they are in it. Throws if they cannot be fetched; the window
    /// then shows a hole until the server answers.
    public func loadEarlier(_ count: Int = 50) async throws {
        if let hole = try await hole(at: state.withLock { $0.window?.first }) {
            return try await fill(hole, from: .upper)
        }
        let range = state.withLock { state -> ClosedRange<Seq>? in
            guard let window = state.window, window.first > state.bounds.first else { return nil }
            let first = Swift.max(state.bounds.first, window.first - Swift.min(count, Self.holeMax))
            state.window?.first = first
            return first...window.first - 1
        }
        try await fill(range, from: .upper)
    }

    /// Grows the window by later messages.
    public func loadLater(_ count: Int = 50) async throws {
        if let hole = try await hole(at: state.withLock { $0.window?.last }) {
            return try await fill(hole, from: .lower)
        }
        let range = state.withLock { state -> ClosedRange<Seq>? in
            guard let last = state.window?.last, last < state.bounds.head else { return nil }
            let end = last + Swift.min(count, Self.holeMax)
            state.window?.last = end >= state.bounds.head ? nil : end
            return last + 1...Swift.min(end, state.bounds.head)
        }
        try await fill(range, from: .lower)
    }

    /// Moves the window to another place. Throws if a message cannot be found.
    public func jump(to anchor: TimelineAnchor) async throws {
        let thread = try await parts.store.thread(threadID)
        let window = try await window(at: anchor, of: thread)
        state.withLock { state in
            // A thread that the device does not have yet is opened there when it has come.
            state.anchor = thread == nil ? anchor : nil
            state.window = window
        }
        parts.store.changes.publish(Changes(timelines: [threadID.rawValue]))
    }

    private func fill(_ range: ClosedRange<Seq>?, from end: RangeEnd) async throws {
        guard let range else { return }
        parts.store.changes.publish(Changes(timelines: [threadID.rawValue]))
        try await parts.history.fill(threadID.rawValue, range, from: end)
    }

    /// The hole at an end of the window, which an earlier try could not fill. The window does not grow beyond it.
    private func hole(at seq: Seq?) async throws -> ClosedRange<Seq>? {
        guard let seq else { return nil }
        let around = Swift.max(1, seq - Self.holeMax)...seq + Self.holeMax
        let gaps = try await parts.store.read { [id = threadID.rawValue] in try $0.gaps(id, in: around) }
        let (window, bounds) = state.withLock { ($0.window, $0.bounds) }
        guard let window, let hole = gaps.first(where: { $0.contains(seq) }) else { return nil }
        return hole.clamped(to: window.first...Swift.max(window.first, window.last ?? bounds.head))
    }

    // MARK: Reading

    private func read() async throws -> [TimelineRow] {
        if let anchor = state.withLock({ $0.anchor }) {
            let thread = try await parts.store.thread(threadID)
            // A message that cannot be found leaves the newest.
            let found = try? await window(at: anchor, of: thread)
            let window = if let found { found } else { try await window(at: .newest, of: thread) }
            state.withLock { state in
                guard state.anchor != nil else { return }
                state.window = window
                // A thread that the device does not have yet is opened again when it has come.
                guard let thread else { return }
                state.anchor = nil
                state.readSeq = thread.unread > 0 ? thread.readSeq : nil
            }
            if thread != nil { filler.loadMembers() }
        }
        let (window, readSeq) = state.withLock { ($0.window ?? Window(first: 1, last: nil), $0.readSeq) }
        let (shown, bounds) = try await parts.store.read { [rows] db in
            (try rows.rows(db, window, readSeq: readSeq), try rows.bounds(db))
        }
        parts.live.setWindow(window.first, in: threadID, of: ObjectIdentifier(self))
        state.withLock { state in
            state.bounds = bounds
            if let last = state.window?.last, last >= bounds.head { state.window?.last = nil }
        }
        guard !shown.contains(where: \.isLargeHole) else {
            // The thread came during this call, and the next one opens it at its anchor. Or it has gone far ahead, or was
            // loaded again: then the window starts again at the newest message.
            if state.withLock({ $0.anchor == nil }) { try await jump(to: .newest) }
            return try await read()
        }
        filler.fill(shown)
        return shown
    }

    /// - Parameter thread: as it was read before; nil if the device does not have it.
    private func window(at anchor: TimelineAnchor, of thread: ThreadFacts?) async throws -> Window {
        let head = thread?.head ?? 0
        let first = thread?.firstVisible ?? 1
        let place: Seq
        switch anchor {
        case .newest: place = head
        case .firstUnread: place = (thread?.unread ?? 0) > 0 ? (thread?.readSeq ?? head) + 1 : head
        case .seq(let seq): place = seq
        case .message(let id): place = try await seq(of: id)
        }
        let half = Self.pageSize / 2
        guard place + half < head else {
            return Window(first: Swift.max(first, Swift.min(place - half, head - Self.pageSize + 1)), last: nil)
        }
        return Window(first: Swift.max(first, place - half), last: place + half)
    }

    private func seq(of id: MessageID) async throws -> Seq {
        let thread = threadID.rawValue
        let stored = try await parts.store.read {
            try $0.seq("select seq from message where id = ? and thread_id = ?", [id.rawValue, thread])
        }
        if let stored { return stored }
        return try await parts.connection.call(.messages.get(id, in: threadID)).seq
    }
}

extension TimelineRow {
    fileprivate var isLargeHole: Bool {
        if case .hole(let range) = self { range.count > Timeline.holeMax } else { false }
    }
}
