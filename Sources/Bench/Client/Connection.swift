// One keep-alive HTTP/1.1 connection: sends a request, receives its answer. The owner decides which requests to send
// and what the answers mean.
import Glibc
import Linux

/// Why there is no answer.
package enum ConnectionFailure: Error, Equatable, CustomStringConvertible {
    case notConnected(SystemFailure)
    case broken(SystemFailure)
    /// The server closed the connection before the answer was complete.
    case closed
    case notHTTP(BadResponse)

    package var description: String {
        switch self {
        case .notConnected(let failure): "no connection: \(failure)"
        case .broken(let failure): "the connection broke: \(failure)"
        case .closed: "the server closed the connection"
        case .notHTTP(let failure): failure.description
        }
    }
}

/// The sender on a connection. It receives each answer or failure, on the loop's thread.
package protocol ConnectionOwner: AnyObject {
    /// The connection is already free for the next request.
    func connection(_ connection: Connection, received answer: Answer)
    /// The connection is closed. The next request reopens it.
    func connection(_ connection: Connection, failed failure: ConnectionFailure)
}

/// Connects on first use, and again after the connection ended. At most one request is under way.
package final class Connection {
    private enum State {
        case closed, connecting, open
    }

    package var endpoint: Endpoint
    /// A number that the owner chose.
    package let tag: Int
    private let loop: EventLoop
    private unowned let owner: any ConnectionOwner
    private var state = State.closed
    private var socket: CInt = -1
    private var token: UInt64 = 0
    private var assembler = ResponseAssembler()
    /// Bytes that the socket has not accepted yet.
    private var unsent: [UInt8] = []
    /// A request is under way.
    package private(set) var isAwaiting = false
    /// How often it has connected.
    package private(set) var openedCount = 0

    package init(_ loop: EventLoop, _ endpoint: Endpoint, tag: Int = 0, owner: any ConnectionOwner) {
        self.tag = tag
        self.loop = loop
        self.endpoint = endpoint
        self.owner = owner
    }

    deinit { close() }

    /// Sends a request. A failure to connect may be reported before this returns.
    package func send(_ request: [UInt8]) {
        request.withUnsafeBytes { send($0) }
    }

    package func send(_ request: UnsafeRawBufferPointer) {
        precondition(!isAwaiting, "one request at a time")
        isAwaiting = true
        switch state {
        case .open: write(request)
        case .connecting: unsent.append(contentsOf: request)
        case .closed:
            unsent.append(contentsOf: request)
            open()
        }
    }

    /// Closes the connection without a report to the owner.
    package func close() {
        guard state != .closed else { return }
        loop.forget(socket, token)
        _ = Glibc.close(socket)
        state = .closed
        socket = -1
        assembler.reset()
        unsent = []
        isAwaiting = false
    }

    private func open() {
        switch endpoint.connect() {
        case .success(let descriptor):
            socket = descriptor
            state = .connecting
            token = loop.watch(descriptor, for: self)
        case .failure(let failure):
            unsent = []
            isAwaiting = false
            owner.connection(self, failed: .notConnected(failure))
        }
    }

    private func fail(_ failure: ConnectionFailure) {
        let wasAwaiting = isAwaiting
        close()
        // Not a failure: the server closed an idle connection. The next request reopens it.
        if wasAwaiting { owner.connection(self, failed: failure) }
    }

    /// Called by the loop.
    func ready(isReadable: Bool, isWritable: Bool) {
        if state == .connecting {
            var code: CInt = 0
            var size = socklen_t(MemoryLayout<CInt>.size)
            getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &size)
            guard code == 0 else { return fail(.notConnected(SystemFailure(code: code))) }
            guard isWritable else { return }
            state = .open
            openedCount += 1
            flush()
        } else if isWritable {
            flush()
        }
        if isReadable, state == .open { read() }
    }

    private func flush() {
        let bytes = unsent
        unsent = []
        bytes.withUnsafeBytes { write($0) }
        if unsent.isEmpty, state == .open { loop.change(socket, token, wantsToWrite: false) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        var count = Glibc.send(socket, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        if count < 0 {
            guard errno == EAGAIN || errno == EINTR else { return fail(.broken(SystemFailure(code: errno))) }
            count = 0
        }
        guard count < bytes.count else { return }
        unsent.append(contentsOf: bytes[count...])
        loop.change(socket, token, wantsToWrite: true)
    }

    private func read() {
        let count = recv(socket, loop.scratch.baseAddress, loop.scratch.count, 0)
        guard count > 0 else {
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            return fail(count == 0 ? .closed : .broken(SystemFailure(code: errno)))
        }
        guard isAwaiting else { return fail(.closed) }
        let bytes = UnsafeRawBufferPointer(rebasing: loop.scratch[..<count])
        do {
            guard let whole = try assembler.take(bytes) else { return }
            isAwaiting = false
            whole.withAnswer(bytes) { answer in
                if answer.closes { close() }
                owner.connection(self, received: answer)
            }
        } catch {
            fail(.notHTTP(error))
        }
    }
}
