// How connections begin: each needs a place among the open ones. If none is free, the longest idle connection is
// closed.

import Basics
import NIOCore
import Synchronization

extension HTTPConnection {
    /// Refused connections that may be open at once. More are closed without an answer.
    private static let refusedCountMax = 256
    /// A connection that has received nothing is not closed for this long: its first request is on its way.
    private static let unusedGrace = TimeAmount.milliseconds(250)

    /// Counts a new connection. If the node is full, it closes the longest idle connection to make room. If the node is
    /// nearly full and the client's address has more than its share, only connections of that address are closed. If
    /// none is idle, the new connection is refused.
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

    /// Closes an idle connection of this loop, or else of another. Reading pauses until the outcome is known, so no
    /// request begins on a connection that is refused.
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
        guard let next = loops.first else { return refuseConnection() }
        guard let connection = reference?.connection else { return }
        next.eventLoop.execute {
            let hasRoom = next.value.closeLongestIdle(of: address)
            connection.eventLoop.execute {
                let connection = connection.value
                guard !connection.phase.isClosed else { return }
                if !hasRoom { return connection.ask(loops.dropFirst(), of: address) }
                connection.isAwaitingAdmission = false
                connection.resumeReading()
            }
        }
    }

    private func refuseConnection() {
        let counters = server.counters
        isAwaitingAdmission = false
        isRefused = true
        counters.connectionsOpen.subtract(1, ordering: .relaxed)
        counters.connectionsRefused.add(1, ordering: .relaxed)
        let refusedCount = counters.connectionsRefusedOpen.add(1, ordering: .relaxed).newValue
        // Over TLS the handshake would cost more than the answer is worth.
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

    /// When the connection became idle. Nil while a request is here or an answer is being sent.
    var idleSince: NIODeadline? {
        guard !isReading, !isAwaitingAdmission, !isRefused else { return nil }
        let start: NIODeadline
        switch phase {
        case .new(let opened) where NIODeadline.now() >= opened + Self.unusedGrace: start = opened
        case .idle(let since) where queue.hasNothing: start = since
        default: return nil
        }
        return output.mayHaveOutput && unsentByteCount > 0 ? nil : start
    }

    // MARK: Addresses

    /// The address that the connection counts for. Nil for trusted proxies and Unix sockets: they have no limit.
    var countedAddress: IPAddress? {
        guard let peerAddress, !server.settings.trustedProxies.contains(peerAddress) else { return nil }
        return peerAddress.client
    }

    /// Counts the connection for its address. Returns true if the address now has more than its share.
    private func joinAddress() -> Bool {
        guard let address = countedAddress else { return false }
        return server.addresses.add(address) > server.settings.addressConnectionCountMax
    }

    func leaveAddress() {
        if let address = countedAddress { server.addresses.remove(address) }
    }
}
