// A network that a test can break: forwards TCP connections until a test makes it drop everything, without notifying
// either side.

import Foundation
import Synchronization
import TestSupport

/// Listens on a port of 127.0.0.1 and forwards everything, on one thread. It ends when the last reference is released.
final class Proxy: Sendable {
    enum Target: Sendable {
        case unix(String)
        case tcp(Int)
    }

    struct Failure: Error { let code: Int32 }

    /// How the thread handles current connections and new ones.
    private struct Orders {
        var strands = false
        var buries = false
        var cuts = false
        var holds = false
    }

    let port: Int
    private let orders = Mutex(Orders())
    private let count = Atomic(0)
    private let target: Mutex<Target>
    private let waker: Waker

    init(to target: Target) throws {
        self.target = Mutex(target)
        let (listener, port) = try Sockets.listener(flags: Int32(SOCK_NONBLOCK.rawValue))
        self.port = port
        waker = try Waker()
        let waker = waker
        // The thread must not retain this object, which would then never be released.
        Thread.detachNewThread { [weak self] in
            var loop = ProxyLoop(listener: listener, target: target)
            while true {
                loop.wait(waker.readEnd)
                waker.drain()
                guard let self else { break }
                loop.target = self.target.withLock { $0 }
                let orders = self.orders.withLock { orders in
                    defer { (orders.strands, orders.buries, orders.cuts) = (false, false, false) }
                    return orders
                }
                if orders.cuts { loop.cut() }
                if orders.buries { loop.bury() }
                if orders.strands { loop.strand() }
                loop.isHolding = orders.holds
                loop.carry()
                self.count.store(loop.connectionCount, ordering: .relaxed)
            }
            loop.end()
        }
    }

    deinit {
        waker.wake()
    }

    /// The number of connections that are forwarded now.
    var connectionCount: Int { count.load(ordering: .relaxed) }

    /// Drops all further traffic of current connections, without notifying either side. New connections work.
    func strand() { order { $0.strands = true } }

    /// Resets stranded connections, as TCP keep-alive finally would.
    func bury() { order { $0.buries = true } }

    /// Holds all traffic until `release`, like a network outage.
    func hold() { order { $0.holds = true } }

    func release() { order { $0.holds = false } }

    /// Resets the current connections.
    func cut() { order { $0.cuts = true } }

    /// The same as `cut`; new connections are forwarded to another server.
    func redirect(to target: Target) {
        self.target.withLock { $0 = target }
        cut()
    }

    private func order(_ change: (inout Orders) -> Void) {
        orders.withLock { change(&$0) }
        waker.wake()
    }
}

/// A socket pair: a byte wakes the thread that polls the other end.
private final class Waker: Sendable {
    let readEnd: Int32
    private let writeEnd: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        let flags = Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | flags, 0, &ends) == 0 else {
            throw Proxy.Failure(code: errno)
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    func wake() { _ = send(writeEnd, [1], 1, Int32(MSG_NOSIGNAL)) }

    func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while recv(readEnd, &bytes, bytes.count, 0) > 0 {}
    }
}

/// State of the thread: all sockets, and the bytes in transit.
private struct ProxyLoop {
    /// One side's socket, and the bytes that wait to be sent to it.
    struct Side {
        let socket: Int32
        var pending = Data()
    }

    struct Pair {
        var client: Side
        var server: Side
        var isStranded = false
    }

    let listener: Int32
    var target: Proxy.Target
    var isHolding = false
    private var pairs: [Pair] = []

    init(listener: Int32, target: Proxy.Target) {
        self.listener = listener
        self.target = target
    }

    var connectionCount: Int { pairs.count { !$0.isStranded } }

    mutating func strand() {
        for index in pairs.indices { pairs[index].isStranded = true }
    }

    mutating func bury() {
        pairs.removeAll { pair in
            if pair.isStranded { Self.close(pair, resets: true) }
            return pair.isStranded
        }
    }

    mutating func cut() {
        pairs.forEach { Self.close($0, resets: true) }
        pairs = []
    }

    mutating func end() {
        pairs.forEach { Self.close($0, resets: false) }
        Glibc.close(listener)
    }

    /// Waits until there are bytes to forward, or a command.
    func wait(_ waker: Int32) {
        var entries = [pollfd(fd: waker, events: Int16(POLLIN), revents: 0)]
        if !isHolding {
            entries.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0))
            for pair in pairs where !pair.isStranded {
                entries.append(Self.entry(pair.client, other: pair.server))
                entries.append(Self.entry(pair.server, other: pair.client))
            }
        }
        _ = poll(&entries, nfds_t(entries.count), -1)
    }

    private static func entry(_ side: Side, other: Side) -> pollfd {
        var events = side.pending.isEmpty ? 0 : POLLOUT
        if other.pending.count < 65_536 { events |= POLLIN }
        return pollfd(fd: side.socket, events: Int16(events), revents: 0)
    }

    mutating func carry() {
        guard !isHolding else { return }
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { break }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            _ = fcntl(client, F_SETFL, O_NONBLOCK)
            guard let server = Sockets.connect(target) else {
                Glibc.close(client)
                continue
            }
            Sockets.setNoDelay(client)
            pairs.append(Pair(client: Side(socket: client), server: Side(socket: server)))
        }
        for index in pairs.indices.reversed() where !pairs[index].isStranded {
            let isOpen =
                Self.move(from: pairs[index].client, to: &pairs[index].server)
                && Self.move(from: pairs[index].server, to: &pairs[index].client)
            if !isOpen { Self.close(pairs.remove(at: index), resets: false) }
        }
    }

    /// Returns false once one side has closed, and its bytes are forwarded as far as the other side accepts them.
    private static func move(from source: Side, to sink: inout Side) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var isOpen = true
        while sink.pending.count < chunk.count {
            let count = recv(source.socket, &chunk, chunk.count, 0)
            if count > 0 {
                sink.pending.append(contentsOf: chunk[..<count])
            } else {
                isOpen = count < 0 && errno == EAGAIN
                break
            }
        }
        while !sink.pending.isEmpty {
            let count = sink.pending.withUnsafeBytes {
                send(sink.socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return isOpen && errno == EAGAIN }
            sink.pending = Data(sink.pending.dropFirst(count))
        }
        return isOpen
    }

    private static func close(_ pair: Pair, resets: Bool) {
        for socket in [pair.client.socket, pair.server.socket] {
            var linger = linger(l_onoff: 1, l_linger: 0)
            if resets {
                setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
            }
            Glibc.close(socket)
        }
    }
}
