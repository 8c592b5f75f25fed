// What a cache of sessions or keys knows of those that have ended.
import Domain

/// Sessions or keys that ended recently. A read of the database that began earlier may still return them.
struct Revocations<ID: Hashable & Sendable>: Sendable {
    private static var countMax: Int { 10_000 }
    private var positions: [ID: Position] = [:]
    /// `positions` may lack those that ended up to here.
    private var since = Position.start
    /// How often everything was dropped.
    private(set) var restartCount = 0

    func contain(_ id: ID) -> Bool { positions[id] != nil }

    /// Whether all revocations after `position` are known here. `count` is the number of restarts when the read at
    /// `position` began. If they are not, the result of the read must not be cached.
    func areComplete(at position: Position, sinceRestart count: Int) -> Bool {
        position >= since && count == restartCount
    }

    /// Records an end: at `position` of the log, or, nil, by this node just now.
    mutating func record(_ id: ID, at position: Position?) {
        positions[id] = position ?? positions[id] ?? since
        guard positions.count > Self.countMax else { return }
        // Ids are never reused. Forgetting is safe when no read can be older: raise `since` and start again.
        since = positions.values.max() ?? since
        positions = [:]
    }

    /// None, for a log that has lost a part of what this node has read: it continues at `position`.
    func restarted(at position: Position) -> Self {
        var next = Self()
        (next.since, next.restartCount) = (position, restartCount + 1)
        return next
    }
}
