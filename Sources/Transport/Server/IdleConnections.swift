// Finds the connections of a loop that have been idle longest. A search looks at all connections except waiting polls.
// So one search serves many new connections, and searches without a result are limited in number.

import Basics
import NIOCore

/// The result of the last search. Confined to its loop.
struct IdleConnections {
    /// The most connections that one search returns.
    static let foundCountMax = 256
    /// Time between searches without a result. Each search costs some hundred microseconds with 10,000 connections.
    static let fruitlessInterval = TimeAmount.milliseconds(50)
    /// Few addresses can be over their share: four, with a share of a quarter.
    private static let fruitlessCountMax = 64

    /// In order; the connection that has been idle longest is last.
    private var found: [(connection: HTTPConnection, since: NIODeadline)] = []
    /// When the next search is allowed: for an address, or (nil) for all.
    private var nextSearch: [IPAddress?: NIODeadline] = [:]

    /// Removes and returns the connection that has been idle longest and still is. Nil if there is none.
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

    /// Drops the result, so that closed connections are released at the next sweep.
    mutating func clear() { found = [] }
}

extension LoopState {
    /// Closes the connection that has been idle longest: of one address, or (nil) of all. Returns false if none is
    /// idle.
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
        // A waiting poll has no timeout, so it is skipped without touching the object.
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
