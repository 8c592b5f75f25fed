// Which connections of a loop have been idle for longest. To find out means to look at all that aren't waiting polls, so what
// one look finds serves many newcomers, and looks in vain are bounded.

import NIOCore

/// What was found at the last look. Confined to its loop.
struct IdleConnections {
    /// Of one look.
    static let foundCountMax = 256
    /// Between looks that found nothing: some hundred microseconds each, however many clients knock.
    static let fruitlessInterval = TimeAmount.milliseconds(50)
    /// Addresses over their share are a handful: four, with a share of a quarter.
    private static let fruitlessCountMax = 64

    /// The longest idle one is the last.
    private var found: [(connection: HTTPConnection, since: NIODeadline)] = []
    /// When to look again for a connection of an address, or of any (nil).
    private var nextLook: [IPAddress?: NIODeadline] = [:]

    /// The longest idle of those found that still is; nil without one.
    mutating func take(of address: IPAddress?) -> HTTPConnection? {
        while let index = found.lastIndex(where: { address == nil || $0.connection.countedAddress == address }) {
            let (connection, since) = found.remove(at: index)
            if connection.idleSince == since { return connection }
        }
        return nil
    }

    func mayLook(for address: IPAddress?) -> Bool { nextLook[address].map { $0 <= .now() } ?? true }

    mutating func lookedInVain(for address: IPAddress?) {
        if nextLook.count >= Self.fruitlessCountMax { nextLook = [:] }
        nextLook[address] = .now() + Self.fruitlessInterval
    }

    mutating func note(_ idle: [(connection: HTTPConnection, since: NIODeadline)]) {
        found = idle.sorted { $0.since < $1.since }.prefix(Self.foundCountMax).reversed()
    }

    /// Holds on to no connection longer than from one sweep to the next.
    mutating func clear() { found = [] }
}

extension LoopState {
    /// Closes the connection that has been idle for longest, of one address or (nil) of any. False if none is idle.
    func closeLongestIdle(of address: IPAddress?) -> Bool {
        if let connection = idle.take(of: address) {
            connection.makeWay()
            return true
        }
        guard idle.mayLook(for: address) else { return false }
        idle.note(idleConnections(of: address))
        guard let connection = idle.take(of: address) else {
            idle.lookedInVain(for: address)
            return false
        }
        connection.makeWay()
        return true
    }

    private func idleConnections(of address: IPAddress?) -> [(connection: HTTPConnection, since: NIODeadline)] {
        var idle: [(connection: HTTPConnection, since: NIODeadline)] = []
        // A waiting poll has no time-out, and is passed over without a look at the object.
        for slot in lookTimes.indices where lookTimes[slot] < .distantFuture {
            let connection = connections[slot]
            guard let since = connection.idleSince, address == nil || connection.countedAddress == address else {
                continue
            }
            idle.append((connection, since))
        }
        return idle
    }
}
