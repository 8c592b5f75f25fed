// One kept-alive HTTP/1.1 connection: a request out, its answer in. Which requests, and what the answers mean, is the
// owner's affair.
import Glibc
import Linux

/// Why there is no answer.
package enum ConnectionFailure: Error, Equatable, CustomStringConvertible {
    case notConnected(SystemFailure)
    case broken(SystemFailure)
    /// The server closed where an answer, or the rest of one, was due.
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

/// Who sends on a connection, and is told of each answer or why there is none. All on the loop's thread.
package protocol ConnectionOwner: AnyObject {
    /// The connection is free for the next request already.
    func connection(_ connection: Connection, received answer: Answer)
    /// The connection is closed. The next request opens it anew.
    func connection(_ connection: Connection, failed failure: ConnectionFailure)
}

/// Connects when first used and again after its end. At most one request is under way.
package final class Connection {
    private enum State {
        case closed, connecting, open
    }

    package var endpoint: Endpoint
    /// The owner's number for it.
    package let tag: Int
    private let loop: EventLoop
    private unowned let owner: any ConnectionOwner
    private var state = State.closed
    private var socket: CInt = -1
    private var token: UInt64 = 0
    private var assembler = ResponseAssembler()
    /// What the socket didn't take yet.
    private var unsent: [UInt8] = []
    /// A request is out, or about to be.
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

    /// Sends a request. Its failure to connect may be told before this returns.
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

    /// Without telling the owner.
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
        // An idle connection that the server closes is no failure: the next request opens it anew.
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
