// The order in which one endpoint gets its events. Decisions only: no I/O, no content, and time is a parameter.
import DequeModule
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

    private let isOrdered: Bool
    private var entries: [Position: Entry] = [:]
    /// The events of each line in order. No line is empty.
    private var lines: [Line: Deque<Position>] = [:]
    /// Lines whose first event may be sent, in the order of their turn.
    private var ready: Deque<Line> = []
    /// Lines whose first event failed, by the time of its retry in ms since 1970.
    private var delayed: [(dueMs: Int64, line: Line)] = []
    private var inFlight: Set<Position> = []
    /// Events that hold the cursor, in order. Some of them may be done.
    private var unstored: Deque<Position> = []
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

    package func isInFlight(_ position: Position) -> Bool { inFlight.contains(position) }

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
        if let head = lines[line]?.first {
            if let first = entries[head], first.tryCount > 0 { waitingLines.insert(line) }
        } else {
            begin(line, dueMs: dueMs)
        }
        lines[line, default: []].append(position)
    }

    /// Returns the next event to send, which then counts as under way.
    package mutating func next(nowMs: Int64) -> Position? {
        while let last = delayed.last, last.dueMs <= nowMs {
            delayed.removeLast()
            ready.append(last.line)
        }
        while let line = ready.popFirst() {
            guard let head = lines[line]?.first, !inFlight.contains(head) else { continue }
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
        guard lines[entry.line]?.first == position else { return }
        lines[entry.line]?.removeFirst()
        if lines[entry.line]?.isEmpty == true { lines[entry.line] = nil } else { begin(entry.line, dueMs: nil) }
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
            guard let events = lines[line], let head = events.first, entries[head].map({ $0.tryCount > 0 }) == true
            else {
                waitingLines.remove(line)
                continue
            }
            // The stored ones come first: events enter in order, and are stored in order.
            let behind = events.dropFirst()
            let unstoredCount = behind.reversed().prefix { entries[$0]?.isStored == false }.count
            for position in behind.suffix(unstoredCount) {
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
            unstored.removeFirst()
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
