// A client that sends exactly the given bytes and shows exactly the received ones. Only the small reader of whole answers
// knows HTTP.

import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

struct TimedOut: Error, CustomStringConvertible {
    let received: String
    var description: String { "timed out; received so far: \(received.debugDescription)" }
}

/// One TCP connection.
final class RawClient: Sendable {
    private let channel: any Channel
    private let inbox: Inbox

    private init(channel: any Channel, inbox: Inbox) {
        self.channel = channel
        self.inbox = inbox
    }

    /// - Parameter readsByItself: false for a client that does not read.
    /// - Parameter from: the address that the server sees. Nil lets the system choose.
    static func connect(_ port: Int, readsByItself: Bool = true, from address: String? = nil) async throws -> RawClient
    {
        let inbox = Inbox()
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.autoRead, value: readsByItself)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(InboxHandler(inbox: inbox))
                }
            }
        if !readsByItself { bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: 4096) }
        if let address { bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: address, port: 0)) }
        return RawClient(channel: try await bootstrap.connect(host: "127.0.0.1", port: port).get(), inbox: inbox)
    }

    func send(_ text: String) async throws { try await send(bytes: ByteBuffer(string: text)) }

    func send(bytes: ByteBuffer) async throws { try await channel.writeAndFlush(bytes).get() }

    /// Reads from now on.
    func readByItself() async throws { try await channel.setOption(.autoRead, value: true).get() }

    /// Closes the sending side only, as `nc -N` does.
    func closeOutput() async throws { try await channel.close(mode: .output).get() }

    func close() async throws { try await channel.close().get() }

    /// Closes with a reset instead of a FIN.
    func reset() async throws {
        try await (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        try await channel.close().get()
    }

    /// Reads the next whole answer. `toHead`: it has no body, whatever its length header says.
    func answer(toHead: Bool = false, within bound: Duration = .seconds(10)) async throws -> Answer {
        try await inbox.take(on: channel.eventLoop, within: bound) { Answer(from: &$0, toHead: toHead, isEnded: $1) }
    }

    /// Reads the next whole answer while the client sends a byte every 5 ms.
    func answer(whileDripping isDripping: Bool) async throws -> Answer {
        let drip = Task {
            while isDripping, !Task.isCancelled {
                try await send("x")
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        defer { drip.cancel() }
        return try await answer()
    }

    /// Reads everything up to the end of the connection.
    func rest(within bound: Duration = .seconds(10)) async throws -> String {
        try await inbox.take(on: channel.eventLoop, within: bound) { bytes, isEnded in
            guard isEnded else { return nil }
            return bytes.readString(length: bytes.readableBytes)
        }
    }

    /// Reads `text`, or nothing if other bytes arrive.
    func expect(_ text: String, within bound: Duration = .seconds(10)) async throws -> Bool {
        try await inbox.take(on: channel.eventLoop, within: bound) { bytes, isEnded in
            let length = text.utf8.count
            guard bytes.readableBytes >= length else { return isEnded ? false : nil }
            return bytes.readString(length: length) == text
        }
    }
}

/// An HTTP answer as it was received.
struct Answer: Sendable {
    var status = 0
    var version = ""
    var headers: [String: String] = [:]
    var body = ""

    /// Nil while it is incomplete.
    init?(from buffer: inout ByteBuffer, toHead: Bool, isEnded: Bool) {
        var bytes = buffer
        guard let text = bytes.readString(length: bytes.readableBytes), let end = text.firstRange(of: "\r\n\r\n")
        else { return nil }
        let lines = text[..<end.lowerBound].split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        version = String(words[0])
        status = Int(words[1]) ?? 0
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts[1].drop { $0 == " " }.description
        }
        var rest = text.utf8[end.upperBound...]
        if headers["transfer-encoding"] == "chunked" {
            guard let whole = Self.unchunk(&rest) else { return nil }
            body = whole
        } else if !toHead, let length = headers["content-length"].flatMap({ Int($0) }) {
            guard rest.count >= length else { return nil }
            body = String(decoding: rest.prefix(length), as: UTF8.self)
            rest = rest.dropFirst(length)
        } else if !toHead, status != 204, status != 304 {
            guard isEnded else { return nil }
            body = String(decoding: rest, as: UTF8.self)
            rest = rest[rest.endIndex...]
        }
        buffer.moveReaderIndex(forwardBy: buffer.readableBytes - rest.count)
    }

    private static func unchunk(_ rest: inout Substring.UTF8View) -> String? {
        var body = ""
        while let lineEnd = rest.firstIndex(of: 0x0D) {
            guard let size = Int(String(decoding: rest[..<lineEnd], as: UTF8.self), radix: 16) else { return nil }
            let data = rest[lineEnd...].dropFirst(2)
            guard data.count >= size + 2 else { return nil }
            body += String(decoding: data.prefix(size), as: UTF8.self)
            rest = data.dropFirst(size + 2)
            if size == 0 { return body }
        }
        return nil
    }
}

/// The received bytes, and the reader that waits for them.
private final class Inbox: Sendable {
    private struct State {
        var bytes = ByteBuffer()
        var isEnded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func add(_ bytes: ByteBuffer) { update { $0.bytes.writeImmutableBuffer(bytes) } }

    func end() { update { $0.isEnded = true } }

    private func update(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            return state.waiter.take()
        }?.resume()
    }

    func take<Value: Sendable>(
        on eventLoop: any EventLoop, within bound: Duration, _ body: (inout ByteBuffer, Bool) -> Value?
    ) async throws -> Value {
        let start = ContinuousClock.now
        while true {
            let (value, count, isEnded) = state.withLock { state in
                (body(&state.bytes, state.isEnded), state.bytes.readableBytes, state.isEnded)
            }
            if let value { return value }
            let left = bound - (ContinuousClock.now - start)
            guard left > .zero, !isEnded else { throw TimedOut(received: state.withLock { String(buffer: $0.bytes) }) }
            let timer = eventLoop.scheduleTask(in: TimeAmount(left)) { self.update { _ in } }
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let hasNews = state.withLock { state in
                    if state.bytes.readableBytes != count || state.isEnded { return true }
                    state.waiter = continuation
                    return false
                }
                if hasNews { continuation.resume() }
            }
            timer.cancel()
        }
    }
}

private final class InboxHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let inbox: Inbox

    init(inbox: Inbox) { self.inbox = inbox }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { inbox.add(Self.unwrapInboundIn(data)) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { inbox.end() }
    }

    func channelInactive(context: ChannelHandlerContext) { inbox.end() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
