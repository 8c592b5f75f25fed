// How connections begin: a place among the open ones, made by closing the longest idle one when there is none left.

import Basics
import NIOCore
import Synchronization

extension HTTPConnection {
    /// Refused connections that may be open at once; past it they are closed without a word.
    private static let refusedCountMax = 256
    /// A connection on which nothing has come yet is not closed for this long: its first request is on its way.
    private static let unusedGrace = TimeAmount.milliseconds(250)

    /// Counts a new connection. If the node is full, it closes the longest idle connection to make room. If the node is nearly
    /// full and the client's address has more than its share, only connections of that address are closed. If none is idle,
    /// the new connection is refused.
    func admit() {
        let counters = server.counters
        counters.connectionsTotal.add(1, ordering: .relaxed)
        let count = counters.connectionsOpen.add(1, ordering: .relaxed).newValue
        let isOverShare = joinAddress()
        if server.isDraining.load(ordering: .sequentiallyConsistent) { return close() }
        let settings = server.settings
        if isOverShare, count > settings.connectionCountMax - settings.reservedConnectionCount {
            makeRoom(of: countedAddress)
        } else if count > settings.connectionCountMax {
            makeRoom(of: nil)
        }
    }

    /// Closes an idle connection of this loop, or else of another. Nothing is read before the outcome is known, so no request
    /// begins on a connection that is refused in the end.
    private func makeRoom(of address: IPAddress?) {
        isAwaitingAdmission = true
        if loop.closeLongestIdle(of: address) {
            isAwaitingAdmission = false
        } else {
            let others = server.loops.withLock { $0 }.filter { $0.eventLoop !== loop.eventLoop }
            ask(others[...], of: address)
        }
    }

    private func ask(_ loops: ArraySlice<NIOLoopBound<LoopState>>, of address: IPAddress?) {
        guard let next = loops.first else { return turnAway() }
        guard let connection = handle?.connection else { return }
        next.eventLoop.execute {
            let hasRoom = next.value.closeLongestIdle(of: address)
            connection.eventLoop.execute {
                let connection = connection.value
                guard connection.phase != .closed else { return }
                if !hasRoom { return connection.ask(loops.dropFirst(), of: address) }
                connection.isAwaitingAdmission = false
                connection.resumeReading()
            }
        }
    }

    private func turnAway() {
        let counters = server.counters
        isAwaitingAdmission = false
        isRefused = true
        counters.connectionsOpen.subtract(1, ordering: .relaxed)
        counters.connectionsRefused.add(1, ordering: .relaxed)
        let refusedCount = counters.connectionsRefusedOpen.add(1, ordering: .relaxed).newValue
        // Over TLS the handshake would cost more than the words are worth.
        guard refusedCount <= Self.refusedCountMax, server.settings.tls == nil else { return close() }
        refuse(.tooManyConnections)
        flushIfNeeded()
        resumeReading()
    }

    /// Closes this connection to make room for a new one.
    func makeWay() {
        server.counters.connectionsDisplaced.add(1, ordering: .relaxed)
        close()
    }

    /// Since when the connection has been idle; nil while a request is here or an answer is on its way.
    var idleSince: NIODeadline? {
        guard isUnused, !isReading, !isAwaitingAdmission, !isRefused else { return nil }
        if mayHaveOutput, unsentByteCount > 0 { return nil }
        if phase == .head, NIODeadline.now() < idleStart + Self.unusedGrace { return nil }
        return idleStart
    }

    // MARK: addresses

    /// The address that the connection counts for; nil for trusted proxies and Unix sockets, which have no share.
    var countedAddress: IPAddress? {
        guard let peerAddress, !server.settings.trustedProxies.contains(peerAddress) else { return nil }
        return peerAddress.client
    }

    /// Counts the connection for its address. Returns whether the address has more than its share now.
    private func joinAddress() -> Bool {
        guard let address = countedAddress else { return false }
        return server.addresses.add(address) > server.settings.addressConnectionCountMax
    }

    func leaveAddress() {
        if let address = countedAddress { server.addresses.remove(address) }
    }
}

/// How many connections each client address has, on all loops.
final class AddressCounts: Sendable {
    private let counts = Mutex<[IPAddress: Int]>([:])

    /// Returns the count with this one.
    func add(_ address: IPAddress) -> Int {
        counts.withLock { counts in
            let count = (counts[address] ?? 0) + 1
            counts[address] = count
            return count
        }
    }

    func remove(_ address: IPAddress) {
        counts.withLock { counts in
            guard let count = counts[address] else { return }
            counts[address] = count > 1 ? count - 1 : nil
        }
    }
}
