// The bodies of a streamed transfer, between the task that uses them and libcurl's thread.
import Synchronization

/// Carries a request's body from one task to libcurl's thread, and an answer's body back. Each side waits for the
/// other: the task suspends, and the transfer pauses. Only one task uses a stream.
package final class TransferStream: Sendable {
    /// Buffered bytes above which a side must wait. One piece more may be buffered.
    static let byteCountMax = 256 << 10

    /// What libcurl's thread finds when it wants a part of the request's body.
    enum Part: Equatable {
        case copied(Int)
        /// The task has not made the next piece yet. The transfer pauses.
        case pause
        /// The body has ended too early, or nobody wants the transfer any more.
        case abort
    }

    /// All decisions. The lock is held for them only; the task is resumed after it.
    private struct State {
        /// Pieces of the request's body. `sentCount` bytes of the first one are sent.
        var outgoing: [[UInt8]] = []
        var sentCount = 0
        var outgoingByteCount = 0
        var isBodyFinished = false
        /// The answer's body as it has arrived.
        var incoming: [UInt8] = []
        /// Whether libcurl has paused the transfer.
        var isPaused = false
        var isCancelled = false
        var result: Result<TransferAnswer, TransferFailure>?
        /// The suspended task.
        var waiter: CheckedContinuation<Void, Never>?

        var isOver: Bool { result != nil || isCancelled }

        mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
            defer { waiter = nil }
            return waiter
        }

        mutating func unpause() -> Bool {
            defer { isPaused = false }
            return isPaused
        }
    }

    private let state = Mutex(State())
    /// Makes libcurl's thread continue the transfer, or end a cancelled one.
    private let wake: @Sendable (TransferStream) -> Void

    init(wake: @escaping @Sendable (TransferStream) -> Void) { self.wake = wake }
}

// The calls of the task that reads the answer.
extension TransferStream {
    /// Waits until there is room for another piece of the body. Returns false once the server has answered or the
    /// transfer has failed.
    func hasRoom() async throws -> Bool {
        try await wait { $0.outgoingByteCount < Self.byteCountMax }
        return state.withLock { !$0.isOver }
    }

    func append(_ piece: [UInt8]) {
        guard !piece.isEmpty else { return }
        let wasPaused = state.withLock { state in
            state.outgoing.append(piece)
            state.outgoingByteCount += piece.count
            return state.unpause()
        }
        if wasPaused { wake(self) }
    }

    /// No more pieces follow.
    func finishBody() {
        let wasPaused = state.withLock { state in
            state.isBodyFinished = true
            return state.unpause()
        }
        if wasPaused { wake(self) }
    }

    /// Waits for the next part of the answer's body. Returns nil at its end.
    func nextPiece() async throws -> [UInt8]? {
        try await wait { !$0.incoming.isEmpty }
        let (piece, wasPaused) = state.withLock { state in
            let piece = state.incoming
            state.incoming = []
            return (piece, !piece.isEmpty && state.unpause())
        }
        if wasPaused { wake(self) }
        return piece.isEmpty ? nil : piece
    }

    func result() async throws -> TransferAnswer {
        try await wait { _ in false }
        guard let result = state.withLock({ $0.result }) else { throw CancellationError() }
        return try result.get()
    }

    /// Ends the transfer if it is still under way.
    func cancel() {
        let (waiter, isFirst) = state.withLock { state in
            let isFirst = !state.isOver
            state.isCancelled = true
            return (state.takeWaiter(), isFirst)
        }
        waiter?.resume()
        if isFirst { wake(self) }
    }

    /// Suspends until the condition holds or the transfer is over. Throws if the stream was cancelled.
    private func wait(until isMet: (State) -> Bool) async throws {
        // A wake-up may be about the other direction.
        while !state.withLock({ isMet($0) || $0.isOver }) {
            await withCheckedContinuation { continuation in
                let mayGoOn = state.withLock { state in
                    if isMet(state) || state.isOver { return true }
                    state.waiter = continuation
                    return false
                }
                if mayGoOn { continuation.resume() }
            }
        }
        if isCancelled { throw CancellationError() }
    }
}

// The calls of libcurl's thread.
extension TransferStream {
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Copies the next bytes of the request's body.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Part {
        let (part, waiter) = state.withLock { state -> (Part, CheckedContinuation<Void, Never>?) in
            if state.isCancelled { return (.abort, nil) }
            guard let piece = state.outgoing.first else {
                if state.isBodyFinished { return (.abort, nil) }
                state.isPaused = true
                return (.pause, nil)
            }
            let part = piece[state.sentCount...].prefix(buffer.count)
            buffer.copyBytes(from: part)
            state.sentCount += part.count
            state.outgoingByteCount -= part.count
            if state.sentCount == piece.count {
                state.outgoing.removeFirst()
                state.sentCount = 0
            }
            return (.copied(part.count), state.outgoingByteCount < Self.byteCountMax ? state.takeWaiter() : nil)
        }
        waiter?.resume()
        return part
    }

    /// Takes a part of the answer's body. Returns false if it must come again later.
    func write(_ part: UnsafeRawBufferPointer) -> Bool {
        let (isTaken, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
            guard state.incoming.isEmpty || state.incoming.count + part.count <= Self.byteCountMax else {
                state.isPaused = true
                return (false, nil)
            }
            state.incoming.append(contentsOf: part)
            return (true, state.takeWaiter())
        }
        waiter?.resume()
        return isTaken
    }

    /// The transfer has ended. Called once.
    func end(_ result: Result<TransferAnswer, TransferFailure>) {
        let waiter = state.withLock { state in
            state.result = result
            return state.takeWaiter()
        }
        waiter?.resume()
    }
}
