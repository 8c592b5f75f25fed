// How other threads refer to a connection.

import NIOCore
import Synchronization

/// A connection with its event loop, and whether the connection is closed. From any thread.
final class ConnectionReference: Sendable {
    let connection: NIOLoopBound<HTTPConnection>
    let executor: LoopTaskExecutor
    let isClosed = Atomic(false)

    init(_ connection: HTTPConnection, eventLoop: any EventLoop) {
        self.executor = connection.loop.executor
        self.connection = NIOLoopBound(connection, eventLoop: eventLoop)
    }

    /// Runs `body` on the connection's loop, at once if this is its thread. Does nothing if the connection is closed.
    func onLoop(_ body: @escaping @Sendable (HTTPConnection) -> Void) {
        guard !isClosed.load(ordering: .acquiring) else { return }
        if connection.eventLoop.inEventLoop {
            body(connection.value)
        } else {
            connection.eventLoop.execute { body(self.connection.value) }
        }
    }
}
