// The server: listens, counts, drains. `HTTPConnection` handles what happens on a connection.

import Glibc
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An HTTP/1.1 server with its own event loops. Must be ended with ``drain(deadline:)``, or its loops keep running.
package final class HTTPServer: Sendable {
    /// The port that the server listens on, also if the settings said 0.
    package let port: Int

    private let state: ServerState
    private let listener: any Channel
    private let loops: [NIOLoopBound<LoopState>]
    private let ownedGroup: MultiThreadedEventLoopGroup?

    private init(
        state: ServerState, listener: any Channel, loops: [NIOLoopBound<LoopState>],
        ownedGroup: MultiThreadedEventLoopGroup?
    ) {
        self.state = state
        self.listener = listener
        self.loops = loops
        self.ownedGroup = ownedGroup
        self.port = listener.localAddress?.port ?? 0
    }

    /// Listens, and serves requests from then on.
    /// - Parameter group: event loops to share. Without it the server creates its own, and the drain ends them.
    package static func bind(
        _ settings: TransportSettings, handler: any RequestHandler, group: MultiThreadedEventLoopGroup? = nil,
        logger: Logger
    ) async throws(BindError) -> HTTPServer {
        let ownedGroup =
            group == nil ? MultiThreadedEventLoopGroup(numberOfThreads: max(1, settings.threadCount)) : nil
        do {
            let state = ServerState(settings: settings, handler: handler, logger: logger)
            guard let group = group ?? ownedGroup else { throw ChannelError.ioOnClosedChannel }
            let loops = try await makeLoops(state, group)
            state.loops.withLock { $0 = loops }
            let listener = try await listen(settings, group, loops)
            return HTTPServer(state: state, listener: listener, loops: loops, ownedGroup: ownedGroup)
        } catch {
            try? await ownedGroup?.shutdownGracefully()
            throw BindError(error, host: settings.host, port: settings.port)
        }
    }

    private static func makeLoops(
        _ state: ServerState, _ group: MultiThreadedEventLoopGroup
    ) async throws -> [NIOLoopBound<LoopState>] {
        var loops: [NIOLoopBound<LoopState>] = []
        for eventLoop in group.makeIterator() {
            let loop = try await eventLoop.submit {
                let loop = LoopState(server: state, eventLoop: eventLoop)
                loop.start()
                return NIOLoopBound(loop, eventLoop: eventLoop)
            }.get()
            loops.append(loop)
        }
        return loops
    }

    private static func listen(
        _ settings: TransportSettings, _ group: MultiThreadedEventLoopGroup, _ loops: [NIOLoopBound<LoopState>]
    ) async throws -> any Channel {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = settings.headerByteCountMax
        limits.maxHeaderListSize = settings.headerByteCountMax
        limits.maxHeaderFieldCount = settings.headerCountMax
        let decoderLimits = limits
        let loopOf = Dictionary(uniqueKeysWithValues: loops.map { (ObjectIdentifier($0.eventLoop), $0) })
        return try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.maxMessagesPerRead, value: 64)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Out of file descriptors: wait a second instead of spinning on a listener that stays readable.
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptBackoffHandler(shouldForwardIOErrorCaught: false))
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(
                .tcpOption(.userTimeout), value: Int(settings.acknowledgementTimeout / .milliseconds(1))
            )
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            // Small until the connection proves busy: an idle connection keeps its buffer.
            .childChannelOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 65_536)
            )
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let loop = loopOf[ObjectIdentifier(channel.eventLoop)]?.value else {
                        throw ChannelError.ioOnClosedChannel
                    }
                    if let tls = settings.tls { try channel.pipeline.syncOperations.addHandler(tls.makeHandler()) }
                    let decoder = HTTPRequestDecoder(
                        leftOverBytesStrategy: .dropBytes, limitConfiguration: decoderLimits)
                    try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(decoder))
                    try channel.pipeline.syncOperations.addHandler(HTTPConnection(loop: loop))
                }
            }
            .bind(host: settings.host, port: settings.port)
            .get()
    }

    // MARK: Drain

    /// Closes the listening socket. The kernel refuses new connections. Open connections continue.
    package func stopAccepting() async {
        // Fails only if the listener is already closed.
        try? await listener.close().get()
    }

    /// Makes each later answer carry `Connection: close`.
    package func setClosing() { state.isClosing.store(true, ordering: .relaxed) }

    /// Stops accepting. Closes connections between requests now, and every other connection after its answer. Streamed
    /// bodies end with ``RequestBodyError/stopping``. At the deadline the rest is cut off, and the handlers of waiting
    /// requests are notified that their clients are gone.
    /// Returns when their tasks have ended, or after ``TransportSettings/cancellationGrace``. Does not answer waiting
    /// requests: their owner must. A second call returns at once.
    package func drain(deadline: Duration) async {
        guard !state.isDraining.exchange(true, ordering: .sequentiallyConsistent) else { return }
        setClosing()
        await stopAccepting()
        for loop in loops { loop.eventLoop.execute { loop.value.forEachConnection { $0.drain() } } }
        state.openGateIfDrained()
        await wait(for: state.connectionsGone, atMost: deadline)
        for loop in loops {
            // Fails only if the group was shut down before the server.
            try? await loop.eventLoop.submit {
                loop.value.forEachConnection { $0.close() }
                loop.value.stop()
            }.get()
        }
        state.lastingTasks.cancelAll()
        // The loops and the state refer to each other.
        state.loops.withLock { $0 = [] }
        // The jobs of tasks need the loops, so the loops end last.
        state.openGateIfTasksEnded()
        await wait(for: state.tasksEnded, atMost: state.settings.cancellationGrace)
        try? await ownedGroup?.shutdownGracefully()
    }

    private func wait(for gate: Gate, atMost bound: Duration) async {
        let timer = loops.first?.eventLoop.scheduleTask(in: TimeAmount(bound)) { gate.open() }
        await gate.wait()
        timer?.cancel()
    }

    // MARK: Metrics

    package struct Statistics: Hashable, Sendable {
        package var connectionsOpen = 0
        package var connectionsTotal = 0
        /// Refused because the limit was reached.
        package var connectionsRefused = 0
        /// Idle connections that were closed for new ones.
        package var connectionsDisplaced = 0
        /// Bytes of the bodies of requests that are not answered yet. Short bodies that arrived whole are not counted.
        package var bodyBytes = 0
        /// Bodies refused because all bodies together were too large.
        package var bodiesRefused = 0
        /// Requests passed to the handler.
        package var requests = 0
        /// Tasks that answer requests; see ``Reply/answer(_:outlivesClient:by:problem:)``.
        package var tasksRunning = 0
        /// Requests that the transport refused, or that the handler did not answer.
        package var failures = 0
        /// Clients that left while their request waited.
        package var clientsGone = 0
        /// Connections closed by a timeout.
        package var timeouts = 0
    }

    package var statistics: Statistics {
        let counters = state.counters
        return Statistics(
            connectionsOpen: counters.connectionsOpen.load(ordering: .relaxed),
            connectionsTotal: counters.connectionsTotal.load(ordering: .relaxed),
            connectionsRefused: counters.connectionsRefused.load(ordering: .relaxed),
            connectionsDisplaced: counters.connectionsDisplaced.load(ordering: .relaxed),
            bodyBytes: counters.bodyBytes.load(ordering: .relaxed),
            bodiesRefused: counters.bodiesRefused.load(ordering: .relaxed),
            requests: counters.requests.load(ordering: .relaxed),
            tasksRunning: counters.tasksRunning.load(ordering: .relaxed),
            failures: counters.failures.load(ordering: .relaxed),
            clientsGone: counters.clientsGone.load(ordering: .relaxed),
            timeouts: counters.timeouts.load(ordering: .relaxed))
    }
}

extension NIOBSDSocket.Option {
    /// The unit is a millisecond (tcp(7)).
    fileprivate static let userTimeout = Self(rawValue: TCP_USER_TIMEOUT)
}
