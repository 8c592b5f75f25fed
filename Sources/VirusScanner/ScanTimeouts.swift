// Ends connections to the virus scanner that take too long.
import NIOCore

/// Closes the connection with `ScanFailure.timeout` when it was idle for too long (an `IdleStateHandler` before this
/// one says so), or when the whole scan takes too long.
final class ScanTimeouts: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let total: TimeAmount
    private var deadline: Scheduled<Void>?

    init(total: Duration) { self.total = TimeAmount(total) }

    func handlerAdded(context: ChannelHandlerContext) {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: total) { Self.end(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is IdleStateHandler.IdleStateEvent else { return context.fireUserInboundEventTriggered(event) }
        Self.end(context)
    }

    private static func end(_ context: ChannelHandlerContext) {
        context.fireErrorCaught(ScanFailure.timeout)
        context.close(promise: nil)
    }
}
