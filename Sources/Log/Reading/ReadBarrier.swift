// Read-your-writes: callers that must see everything committed before they asked.
import Synchronization

/// Lets callers wait for the tail. A read of the log sees everything committed before the read began. So a caller that
/// asks during a read waits for the next one, and all such callers share it.
final class ReadBarrier: Sendable {
    typealias Waiting = [CheckedContinuation<Void, any Error>]

    /// Nil after the last read.
    private let waiting = Mutex<Waiting?>([])

    /// Waits for a read of the log that begins after this call.
    /// - Parameter wake: causes such a read; called when the caller is waiting.
    /// - Throws: why the log could not be read, or `CancellationError` after the last read.
    func wait(_ wake: () -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let isWaiting = waiting.withLock { waiting in
                waiting?.append(continuation)
                return waiting != nil
            }
            if isWaiting { wake() } else { continuation.resume(throwing: CancellationError()) }
        }
    }

    /// Runs a read of the log for all callers that have asked so far.
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

    /// Fails all waiting and later callers: there will be no more reads.
    func close() {
        for continuation in waiting.withLock({ $0.take() }) ?? [] { continuation.resume(throwing: CancellationError()) }
    }
}
