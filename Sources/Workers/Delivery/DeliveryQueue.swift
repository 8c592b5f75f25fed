// Which claimed items are sent now, and in which order: the decisions of DeliveryLoop. No I/O, and time is a parameter.
// DeliveryQueue+settling.swift has the outcomes.
import Basics
import DequeModule

/// Something that a worker claims, sends, and records the outcome of.
package protocol Deliverable: Sendable {
    /// Names the item and its claim.
    associatedtype Key: Hashable & Sendable
    associatedtype Line: Hashable & Sendable
    /// What is recorded of a try.
    associatedtype Outcome: Sendable

    var key: Key { get }
    /// Items of one line are sent one after the other, in the order in which they were added.
    var line: Line { get }
}

extension Deliverable where Line == Key {
    /// The item has a line of its own: it waits for no other one.
    package var line: Key { key }
}

/// The items that a worker has claimed, from the claim until their outcomes are recorded.
///
/// The caller adds claimed items, sends those that `sends` returns, reports each answer to `answered`, records what
/// `takeSettlement` returns, and reports that to `settled` or `settlementFailed`. Answers come at any time and in any
/// order. A failed item keeps its line waiting until it is sent again or removed.
///
/// An item is stored if the database has a row for it that says what to do with it. Others are lost with the process,
/// so a cursor must not pass them.
package struct DeliveryQueue<Item: Deliverable>: Sendable {
    package typealias Key = Item.Key
    package typealias Outcome = Item.Outcome
    package typealias Instant = ContinuousClock.Instant

    package struct Limits: Sendable {
        /// Items and outcomes that are not recorded.
        package var heldCountMax = Int.max
        /// Items of one claim. A claim waits until there is room for the least number.
        package var claimCountMin = 1
        package var claimCountMax = Int.max
        /// Outcomes that are recorded without waiting for more.
        package var settleCountMin = 1
        /// Outcomes of one call.
        package var settleCountMax = Int.max
        /// The longest time until an outcome is recorded.
        package var settleWaitMax = Duration.zero
        /// Calls at once that record outcomes.
        package var settlementCountMax = 1

        package init() {}
    }

    /// What becomes of an item after its answer.
    package enum Next: Sendable, Equatable {
        /// The queue forgets the item. The next one of its line may be sent.
        case remove
        /// The item failed and is sent again at this time.
        case retry(at: Instant)
        /// The item was not sent, and is sent at this time. This does not count as a try.
        ///
        /// - Parameter at: nil for at once.
        case putBack(at: Instant? = nil)
    }

    private struct Entry {
        var item: Item
        /// Tries that failed.
        var tryCount: Int
        var isStored: Bool
    }

    let limits: Limits
    /// How fast the items' receiver gets them.
    package var pace: Pace
    /// When the one lease of all items ends: nothing is sent after it, and items wait here for the pace. Nil if each item
    /// has a lease of its own: then items wait in the database for the pace, and what was claimed is sent.
    package var leaseEnd: Instant?
    private var entries: [Key: Entry] = [:]
    /// The items of each line in order. No line is empty.
    private var lines: [Item.Line: Deque<Key>] = [:]
    /// Lines whose first item may be sent, in the order of their turn.
    private var ready: Deque<Item.Line> = []
    /// Lines whose first item waits for its time. The soonest is last.
    private var delayed: [(dueAt: Instant, line: Item.Line)] = []
    private var inFlight: Set<Key> = []
    /// Items in the order in which they were added, from the first one that is neither stored nor removed.
    private var unstored: Deque<Key> = []
    /// Lines that got an item behind a failed one since the last call of `takeWaiting`.
    private var waitingLines: Set<Item.Line> = []
    /// Whether there may be items to claim.
    var isDue = true
    package internal(set) var isClosing = false
    /// Whether a settlement was given up.
    package internal(set) var hasGivenUp = false
    var outcomes: [Key: Outcome] = [:]
    var settling: [Int: [Key: Outcome]] = [:]
    var settlementCount = 0
    package internal(set) var settledAt: Instant

    package init(limits: Limits = Limits(), pace: Pace = Pace(), leaseEnd: Instant? = nil, now: Instant) {
        self.limits = limits
        self.pace = pace
        self.leaseEnd = leaseEnd
        settledAt = now
    }

    /// Items that are not removed.
    package var count: Int { entries.count }
    /// Those with a row in the database.
    package private(set) var storedCount = 0
    package var inFlightCount: Int { inFlight.count }
    /// Items, and outcomes that are not recorded.
    package var heldCount: Int { entries.count + outcomes.count + settling.values.reduce(0) { $0 + $1.count } }
    package var items: some Sequence<Item> { entries.values.lazy.map(\.item) }

    package subscript(key: Key) -> Item? {
        get { entries[key]?.item }
        set { if let newValue { entries[key]?.item = newValue } }
    }

    package func isInFlight(_ key: Key) -> Bool { inFlight.contains(key) }

    /// Returns the items behind the first one of its line, in order.
    package func followers(of first: Key, limit: Int) -> some Sequence<Key> {
        let keys = entries[first].flatMap { lines[$0.item.line] } ?? []
        return keys.dropFirst().prefix(limit)
    }

    /// Tries of an item that failed.
    package func tryCount(of key: Key) -> Int { entries[key]?.tryCount ?? 0 }

    // MARK: Claiming

    /// Records that there may be items to claim.
    package mutating func wake() { isDue = true }

    /// Returns how many items to claim now: none if there is no room, or if the last claim left none.
    package mutating func takeClaim(now: Instant) -> Int {
        guard isDue, !isClosing else { return 0 }
        let room = min(
            limits.heldCountMax - heldCount, limits.claimCountMax, pace.room(inFlightCount: count, now: now))
        // One item shows whether a slowed receiver works again.
        guard room > 0, room >= limits.claimCountMin || pace.isSlowed else { return 0 }
        isDue = false
        return room
    }

    /// Adds an item after all others of its line. Does nothing if the queue has it.
    ///
    /// - Parameters:
    ///   - tryCount: tries that failed.
    ///   - dueAt: when it is to be sent; nil for now.
    package mutating func add(_ item: Item, tryCount: Int = 0, dueAt: Instant? = nil, isStored: Bool = false) {
        let (key, line) = (item.key, item.line)
        guard entries[key] == nil else { return }
        entries[key] = Entry(item: item, tryCount: tryCount, isStored: isStored)
        if isStored { storedCount += 1 } else { unstored.append(key) }
        if let head = lines[line]?.first {
            if hasFailed(head) { waitingLines.insert(line) }
        } else {
            begin(line, dueAt: dueAt)
        }
        lines[line, default: []].append(key)
    }

    // MARK: Sending

    /// Returns the items to send now. They are under way until they are answered.
    package mutating func sends(now: Instant) -> [Item] {
        if let leaseEnd, now >= leaseEnd { return [] }
        while let last = delayed.last, last.dueAt <= now {
            delayed.removeLast()
            ready.append(last.line)
        }
        var room = leaseEnd == nil ? .max : pace.room(inFlightCount: inFlightCount, now: now)
        var sends: [Item] = []
        while room > 0, let line = ready.popFirst() {
            guard let head = lines[line]?.first, let item = entries[head]?.item, inFlight.insert(head).inserted
            else { continue }
            sends.append(item)
            room -= 1
        }
        return sends
    }

    /// Makes items due that failed and wait for their time. Returns them.
    package mutating func hasten(where isIncluded: (Item) -> Bool) -> [Key] {
        let waiting = delayed.reversed()
        var hastened: [Key] = []
        delayed = []
        for (dueAt, line) in waiting {
            if let head = lines[line]?.first, let item = entries[head]?.item, isIncluded(item) {
                hastened.append(head)
                ready.append(line)
            } else {
                delayed.append((dueAt, line))
            }
        }
        delayed.reverse()
        return hastened
    }

    /// Reports the end of an item that is under way.
    ///
    /// - Parameter outcome: what is to be recorded; nil for nothing.
    /// - Returns: false if the item is not under way: it was answered before, and nothing changes.
    @discardableResult
    package mutating func answered(_ key: Key, _ outcome: Outcome?, _ next: Next = .remove) -> Bool {
        guard inFlight.remove(key) != nil, let line = entries[key]?.item.line else { return false }
        if let outcome { outcomes[key] = outcome }
        switch next {
        case .remove: remove(key, of: line)
        case .retry(let time):
            entries[key]?.tryCount += 1
            waitingLines.insert(line)
            begin(line, dueAt: time)
        case .putBack(let time): begin(line, dueAt: time)
        }
        return true
    }

    private mutating func remove(_ key: Key, of line: Item.Line) {
        if entries.removeValue(forKey: key)?.isStored == true { storedCount -= 1 }
        lines[line]?.removeFirst()
        if lines[line]?.isEmpty == true { lines[line] = nil } else { begin(line, dueAt: nil) }
        forgetStored()
    }

    private mutating func begin(_ line: Item.Line, dueAt: Instant?) {
        guard let dueAt else {
            ready.append(line)
            return
        }
        var (low, high) = (0, delayed.count)
        while low < high {
            let middle = (low + high) / 2
            if delayed[middle].dueAt > dueAt { low = middle + 1 } else { high = middle }
        }
        delayed.insert((dueAt, line), at: low)
    }

    // MARK: Rows and the cursor

    /// The first item that was added and is neither stored nor removed: a cursor stays before it.
    package var firstUnstored: Key? { unstored.first }

    /// Records that the database has rows for these items.
    package mutating func stored(_ keys: some Sequence<Key>) {
        for key in keys where entries[key]?.isStored == false {
            entries[key]?.isStored = true
            storedCount += 1
        }
        forgetStored()
    }

    /// Removes and returns the items that wait behind a failed one and have no row yet. Those that failed themselves
    /// are not among them: the caller knows them.
    package mutating func takeWaiting(limit: Int) -> [Item] {
        var found: [Item] = []
        for line in waitingLines {
            guard let keys = lines[line], let head = keys.first, hasFailed(head) else {
                waitingLines.remove(line)
                continue
            }
            // The stored ones come first: items enter in order, and are stored in order.
            let behind = keys.dropFirst()
            let unstoredCount = behind.reversed().prefix { entries[$0]?.isStored == false }.count
            for key in behind.suffix(unstoredCount) {
                guard found.count < limit else { return found }
                if let item = entries[key]?.item { found.append(item) }
            }
            waitingLines.remove(line)
        }
        return found
    }

    private func hasFailed(_ key: Key) -> Bool { tryCount(of: key) > 0 }

    private mutating func forgetStored() {
        while let first = unstored.first, entries[first]?.isStored != false { unstored.removeFirst() }
    }
}
