// Events in the order of the log, up to a bound. A value; who may see an event is decided elsewhere.
import DequeModule
import Domain

/// The latest events of one kind. It is a cache of the log: dropped events are only in the database.
struct EventQueue {
    /// The queue has every event of its kind after this position, up to the hub's head.
    private(set) var since: Position
    private var events: Deque<Event> = []
    private var byteCount = 0

    init(since: Position) { self.since = since }

    /// The last event's position; without events `since`.
    var last: Position { events.last?.position ?? since }

    /// Appends the next event, and drops the oldest ones past the bounds, but never this one. Returns how many it
    /// dropped.
    mutating func append(_ event: Event, countMax: Int, byteCountMax: Int) -> Int {
        events.append(event)
        byteCount += event.body.count
        var dropped = 0
        while events.count > countMax || (byteCount > byteCountMax && events.count > 1) {
            drop()
            dropped += 1
        }
        return dropped
    }

    /// Prepends the events between `position` and the first one here.
    mutating func prepend(_ earlier: some Collection<Event>, since position: Position) {
        events.prepend(contentsOf: earlier)
        byteCount += earlier.reduce(0) { $0 + $1.body.count }
        since = position
    }

    mutating func forget(upTo position: Position) {
        while let first = events.first, first.position <= position { drop() }
        since = max(since, position)
    }

    private mutating func drop() {
        let event = events.removeFirst()
        byteCount -= event.body.count
        since = event.position
    }

    /// The events after `position`, oldest first. Costs a binary search.
    func after(_ position: Position) -> Deque<Event>.SubSequence { events[firstIndex(after: position)...] }

    /// The last event's position before another one; without such an event, `since`.
    func last(before position: Position) -> Position {
        let index = firstIndex(after: Position(position.value - 1))
        return index > 0 ? events[index - 1].position : since
    }

    private func firstIndex(after position: Position) -> Int {
        // Usually all events are after the position, or none.
        guard let last = events.last, last.position > position else { return events.count }
        var low = 0
        var high = events.count
        while low < high {
            let middle = (low + high) / 2
            if events[middle].position <= position { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
