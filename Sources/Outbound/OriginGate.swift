// How many requests a server gets at once while its connections are new. Decisions only, without libcurl.

/// Opens an origin step by step: one request on a new connection, one more after each answer.
///
/// A server announces how many streams it allows in its settings. They arrive after the first requests have left. APNs
/// allows one stream until it has seen a valid provider token. After a hundred at once it refuses them, or closes the
/// connection.
struct OriginGate<Item> {
    typealias Instant = ContinuousClock.Instant

    private struct Origin {
        /// How many requests may be under way at once.
        var window = 1
        var inFlightCount = 0
        var usedAt: Instant?
        var held: [(item: Item, since: Instant)] = []

        mutating func release(_ countMax: Int) -> [Item] {
            let items = held.prefix(max(0, countMax)).map(\.item)
            held.removeFirst(items.count)
            inFlightCount += items.count
            return items
        }
    }

    /// The longest time a request is held. A server that is slow to answer one request may be faster with others.
    private let heldMax: Duration
    /// Above this count, origins without requests under way are dropped.
    private let originCountMax: Int
    /// A connection that was idle for longer may be closed without this node's knowing.
    private static var idleMax: Duration { .seconds(10) }
    private var origins: [String: Origin] = [:]

    init(heldMax: Duration = .seconds(1), originCountMax: Int = 256) {
        self.heldMax = heldMax
        self.originCountMax = originCountMax
    }

    /// Returns whether the request may begin now. Otherwise it is held.
    ///
    /// - Parameter isOpen: whether there are connections to the origin.
    mutating func admit(_ item: Item, to name: String, isOpen: Bool, now: Instant) -> Bool {
        if origins.count >= originCountMax { origins = origins.filter { $0.value.inFlightCount > 0 } }
        var origin = origins[name] ?? Origin()
        let isIdle = origin.usedAt.map { $0 + Self.idleMax <= now } ?? true
        if origin.inFlightCount == 0, isIdle || !isOpen { origin.window = 1 }
        origin.usedAt = now
        let mayBegin = origin.inFlightCount < origin.window
        if mayBegin { origin.inFlightCount += 1 } else { origin.held.append((item, now)) }
        origins[name] = origin
        return mayBegin
    }

    /// Records the end of a request. Returns the held requests that begin now.
    mutating func ended(at name: String, hasAnswered: Bool, isOpen: Bool, now: Instant) -> [Item] {
        guard var origin = origins[name] else { return [] }
        origin.usedAt = now
        origin.inFlightCount -= 1
        if hasAnswered { origin.window += 1 } else if !isOpen { origin.window = 1 }
        let items = origin.release(origin.window - origin.inFlightCount)
        origins[name] = origin
        return items
    }

    /// Removes and returns the requests that were held for too long: they begin now.
    mutating func takeOverdue(now: Instant) -> [Item] {
        var items: [Item] = []
        for (name, origin) in origins where !origin.held.isEmpty {
            let count = origin.held.prefix { $0.since + heldMax <= now }.count
            if count > 0, var changed = origins[name] {
                items += changed.release(count)
                origins[name] = changed
            }
        }
        return items
    }

    /// Removes and returns all held requests.
    mutating func takeAll() -> [Item] {
        let items = origins.values.flatMap { $0.held.map(\.item) }
        origins = [:]
        return items
    }

    /// When the next request will have been held for too long.
    var nextDeadline: Instant? { origins.values.compactMap { $0.held.first.map { $0.since + heldMax } }.min() }
}
