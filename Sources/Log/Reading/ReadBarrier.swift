// Those who must not be answered from what this node knew before they asked.
import Synchronization

/// Waits for the tail. A read that begins after the asking sees all that was committed before it; so whoever asks while
/// one is under way waits for the next, and all who do share that.
final class ReadBarrier: Sendable {
    typealias Waiting = [CheckedContinuation<Void, any Error>]

    /// Nil once there will be no more reads.
    private let waiting = Mutex<Waiting?>([])

    /// - Parameter wake: has the log read, and soon; called once the caller is waiting.
    /// - Throws: why the log could not be read, or `CancellationError` when there is no more reading it.
    func wait(_ wake: () -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let isWaiting = waiting.withLock { waiting in
                waiting?.append(continuation)
                return waiting != nil
            }
            if isWaiting { wake() } else { continuation.resume(throwing: CancellationError()) }
        }
    }

    /// Runs a read of the log to its end for all who have asked so far.
    func serve(_ read: () async throws -> Void) async throws {
        let served = waiting.withLock { waiting in
            defer { if waiting != nil { waiting = [] } }
            return waiting ?? []
        }
        do {
            try await read()
            for continuation in served { continuation.resume() }
        } catch {
            for continuation in served { continuation.resume(throwing: error) }
            throw error
        }
    }

    /// There will be no more reads.
    func close() {
        for continuation in waiting.withLock({ $0.take() }) ?? [] { continuation.resume(throwing: CancellationError()) }
    }
}
