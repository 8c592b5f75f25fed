// The order in which one endpoint gets its events. Decisions only: no I/O, no content, and time is a parameter.
import Domain

/// The events of one endpoint that are neither delivered nor parked.
///
/// With order, one event of a thread is under way at a time, and a failed one keeps its thread waiting until it is
/// delivered or parked. Other threads go on. Events without a thread count as one thread. Without order, every event
/// goes by itself.
///
/// Positions enter in ascending order. `isStored` says that the database has a row for the event; the log's cursor may
/// pass such an event. Failed events and those that wait behind them are to be stored, all others are not.
package struct WebhookQueue: Sendable {
    /// What the database needs to know of an event that waits for a retry, or behind one.
    package struct Waiting: Sendable, Equatable {
        package var position: Position
        package var thread: ThreadID?
    }

    private enum Line: Hashable {
        case thread(ThreadID?)
        case event(Position)
    }

    private struct Entry {
        var line: Line
        var thread: ThreadID?
        /// Tries that failed.
        var tryCount: Int
        var isStored: Bool
    }

    private struct Events {
        var positions: [Position] = []
        var first = 0
        var head: Position? { first < positions.count ? positions[first] : nil }
        var isEmpty: Bool { first >= positions.count }
        /// The events behind the head.
        var rest: ArraySlice<Position> { positions[min(first + 1, positions.count)...] }

        mutating func removeHead() {
            first += 1
            // Moves the rest once for many removals.
            if first > 32, first * 2 > positions.count {
                positions.removeFirst(first)
                first = 0
            }
        }
    }

    private let isOrdered: Bool
    private var entries: [Position: Entry] = [:]
    private var lines: [Line: Events] = [:]
    /// Lines whose first event may be sent, in the order of their turn.
    private var ready = FIFO<Line>()
    /// Lines whose first event failed, by the time of its retry in ms since 1970.
    private var delayed: [(dueMs: Int64, line: Line)] = []
    private var inFlight: Set<Position> = []
    /// Events that hold the cursor, in order. Some of them may be done.
    private var unstored = FIFO<Position>()
    /// Lines that got an event behind a failed one since the last call of `takeWaiting`.
    private var waitingLines: Set<Line> = []

    package init(isOrdered: Bool) { self.isOrdered = isOrdered }

    /// Events under way.
    package var inFlightCount: Int { inFlight.count }
    /// Events that are neither delivered nor parked.
    package var count: Int { entries.count }
    /// Those with a row in the database.
    package private(set) var storedCount = 0
    /// When the next failed event is to be retried, in ms since 1970.
    package var nextDueMs: Int64? { delayed.last?.dueMs }
    package var hasReady: Bool { !ready.isEmpty }

    package func contains(_ position: Position) -> Bool { entries[position] != nil }

    /// Tries of an event that failed.
    package func tryCount(of position: Position) -> Int { entries[position]?.tryCount ?? 0 }

    /// Adds an event after all others of its thread.
    ///
    /// - Parameters:
    ///   - tryCount: tries that failed.
    ///   - dueMs: when it is to be retried; nil for an event that has not failed.
    package mutating func add(
        _ position: Position, thread: ThreadID?, tryCount: Int = 0, dueMs: Int64? = nil, isStored: Bool = false
    ) {
        guard entries[position] == nil else { return }
        let line: Line = isOrdered ? .thread(thread) : .event(position)
        entries[position] = Entry(line: line, thread: thread, tryCount: tryCount, isStored: isStored)
        if isStored { storedCount += 1 } else { unstored.append(position) }
        let wasEmpty = lines[line]?.isEmpty ?? true
        lines[line, default: Events()].positions.append(position)
        if wasEmpty {
            begin(line, dueMs: dueMs)
        } else if let head = lines[line]?.head, let first = entries[head], first.tryCount > 0 {
            waitingLines.insert(line)
        }
    }

    /// Returns the next event to send, which then counts as under way.
    package mutating func next(nowMs: Int64) -> Position? {
        while let last = delayed.last, last.dueMs <= nowMs {
            delayed.removeLast()
            ready.append(last.line)
        }
        while let line = ready.popFirst() {
            guard let head = lines[line]?.head, !inFlight.contains(head) else { continue }
            inFlight.insert(head)
            return head
        }
        return nil
    }

    /// Removes an event that was delivered or parked. The next one of its thread may go.
    package mutating func done(_ position: Position) {
        inFlight.remove(position)
        guard let entry = entries.removeValue(forKey: position) else { return }
        if entry.isStored { storedCount -= 1 }
        guard var events = lines[entry.line], events.head == position else { return }
        events.removeHead()
        lines[entry.line] = events.isEmpty ? nil : events
        if !events.isEmpty { begin(entry.line, dueMs: nil) }
    }

    /// Keeps an event for a retry.
    package mutating func failed(_ position: Position, retryAtMs: Int64) {
        inFlight.remove(position)
        guard let line = entries[position]?.line else { return }
        entries[position]?.tryCount += 1
        waitingLines.insert(line)
        begin(line, dueMs: retryAtMs)
    }

    /// Puts an event back that was not sent. It is the next one of its thread, at this time.
    package mutating func unsent(_ position: Position, retryAtMs: Int64) {
        inFlight.remove(position)
        guard let line = entries[position]?.line else { return }
        begin(line, dueMs: retryAtMs)
    }

    /// Records that the database has rows for these events.
    package mutating func stored(_ positions: [Position]) {
        for position in positions {
            guard entries[position]?.isStored == false else { continue }
            entries[position]?.isStored = true
            storedCount += 1
        }
    }

    /// Removes and returns the events that wait behind a failed one and have no row yet. Those that failed themselves
    /// are not among them: the caller knows them.
    package mutating func takeWaiting(limit: Int) -> [Waiting] {
        var found: [Waiting] = []
        for line in waitingLines {
            guard let events = lines[line], let head = events.head, entries[head].map({ $0.tryCount > 0 }) == true
            else {
                waitingLines.remove(line)
                continue
            }
            // The stored ones come first: events enter in order, and are stored in order.
            let unstoredCount = events.rest.reversed().prefix { entries[$0]?.isStored == false }.count
            for position in events.rest.suffix(unstoredCount) {
                guard found.count < limit else { return found }
                found.append(Waiting(position: position, thread: entries[position]?.thread))
            }
            waitingLines.remove(line)
        }
        return found
    }

    /// Returns the position up to which every event is delivered, parked or stored.
    ///
    /// - Parameter readTo: up to where the log was read.
    package mutating func cursor(readTo: Position) -> Position {
        while let first = unstored.first {
            if entries[first]?.isStored == false { return Position(first.value - 1) }
            _ = unstored.popFirst()
        }
        return readTo
    }

    private mutating func begin(_ line: Line, dueMs: Int64?) {
        guard let dueMs else {
            ready.append(line)
            return
        }
        // The soonest is last.
        var (low, high) = (0, delayed.count)
        while low < high {
            let middle = (low + high) / 2
            if delayed[middle].dueMs > dueMs { low = middle + 1 } else { high = middle }
        }
        delayed.insert((dueMs, line), at: low)
    }
}

/// A queue with removals at the front in constant time.
struct FIFO<Element: Sendable>: Sendable {
    private var items: [Element] = []
    private var start = 0

    var isEmpty: Bool { start >= items.count }
    var first: Element? { isEmpty ? nil : items[start] }

    mutating func append(_ item: Element) { items.append(item) }

    mutating func popFirst() -> Element? {
        guard start < items.count else { return nil }
        defer {
            start += 1
            if start > 64, start * 2 > items.count {
                items.removeFirst(start)
                start = 0
            }
        }
        return items[start]
    }
}
