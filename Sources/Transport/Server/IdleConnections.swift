// Finds the connections of a loop that have been idle for longest. A search looks at all connections but waiting polls, so
// one search serves many new connections, and searches that find nothing are limited in number.

import Basics
import NIOCore

/// The result of the last search. Confined to its loop.
struct IdleConnections {
    /// Of one search.
    static let foundCountMax = 256
    /// Between searches that found nothing. Each costs some hundred microseconds with 10,000 connections.
    static let fruitlessInterval = TimeAmount.milliseconds(50)
    /// Addresses over their share are a handful: four, with a share of a quarter.
    private static let fruitlessCountMax = 64

    /// The longest idle one is the last.
    private var found: [(connection: HTTPConnection, since: NIODeadline)] = []
    /// When the next search for an address, or for any (nil), is allowed.
    private var nextSearch: [IPAddress?: NIODeadline] = [:]

    /// Removes and returns the longest idle connection that is still idle; nil if there is none.
    mutating func take(of address: IPAddress?) -> HTTPConnection? {
        while let index = found.lastIndex(where: { address == nil || $0.connection.countedAddress == address }) {
            let (connection, since) = found.remove(at: index)
            if connection.idleSince == since { return connection }
        }
        return nil
    }

    func maySearch(for address: IPAddress?) -> Bool { nextSearch[address].map { $0 <= .now() } ?? true }

    mutating func foundNothing(for address: IPAddress?) {
        if nextSearch.count >= Self.fruitlessCountMax { nextSearch = [:] }
        nextSearch[address] = .now() + Self.fruitlessInterval
    }

    /// Replaces the result of the last search.
    mutating func store(_ idle: [(connection: HTTPConnection, since: NIODeadline)]) {
        found = idle.sorted { $0.since < $1.since }.prefix(Self.foundCountMax).reversed()
    }

    /// Drops the result, so that closed connections are not kept longer than from one sweep to the next.
    mutating func clear() { found = [] }
}

extension LoopState {
    /// Closes the connection that has been idle for longest, of one address or (nil) of any. Returns false if none is idle.
    func closeLongestIdle(of address: IPAddress?) -> Bool {
        if let connection = idle.take(of: address) {
            connection.makeWay()
            return true
        }
        guard idle.maySearch(for: address) else { return false }
        idle.store(idleConnections(of: address))
        guard let connection = idle.take(of: address) else {
            idle.foundNothing(for: address)
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
