// One stream of batched writes: what arrives while a call is on its way goes with the next.
import Domain
import Logging
import Store
import Synchronization

/// Figures of a batcher since it started, for metrics.
package struct BatchCounters: Sendable {
    package var batches = 0
    package var items = 0
    package var largest = 0
    package var failures = 0
    /// Microseconds that calls took, in all.
    package var callMicros: Int64 = 0
    package var queued = 0
}

/// Gathers items into calls. One call is under way at a time; a lone item goes at once; nothing waits for a timer.
final class Batcher<Item: Sendable, Outcome: Sendable>: Sendable {
    typealias Call = @Sendable ([Item]) async throws(Store.BatchFailure) -> [Outcome]

    private struct Entry: Sendable {
        let item: Item
        let continuation: CheckedContinuation<Outcome, any Error>
    }

    private struct State {
        var queue: BatchQueue<Entry>
        var counters = BatchCounters()
    }

    private let state: Mutex<State>
    private let signal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let call: Call
    private let logger: Logger
    /// How long a batch is tried again while the database is away.
    private let patience: Duration

    init(patience: Duration = .seconds(5), logger: Logger, _ call: @escaping Call) {
        state = Mutex(State(queue: BatchQueue()))
        self.patience = patience
        self.logger = logger
        self.call = call
    }

    var counters: BatchCounters {
        state.withLock {
            var counters = $0.counters
            counters.queued = $0.queue.count
            return counters
        }
    }

    /// Writes one item, and gives its own outcome. Runs to its end whether or not the caller still waits: what has been
    /// sent can't be called back.
    func submit(_ item: Item, byteCount: Int) async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            let admission = state.withLock {
                $0.queue.add(Entry(item: item, continuation: continuation), byteCount: byteCount)
            }
            switch admission {
            case .first: signal.continuation.yield()
            case .queued: break
            case .full:
                continuation.resume(throwing: Problem(.overloaded, "The service is busy. Try again.", retryAfterS: 1))
            case .closed:
                continuation.resume(throwing: Problem(.unavailable, "The service is stopping.", retryAfterS: 1))
            }
        }
    }

    /// Takes nothing more in; `run` ends when the rest is written.
    func close() {
        state.withLock { $0.queue.close() }
        signal.continuation.finish()
    }

    /// Sends batches until closed.
    func run() async {
        for await _ in signal.stream { await sendAll() }
        await sendAll()
    }

    private func sendAll() async {
        while true {
            let batch = state.withLock { $0.queue.take() }
            if batch.isEmpty { return }
            let start = ContinuousClock.now
            await send(batch, until: start + patience)
            let micros = (ContinuousClock.now - start) / .microseconds(1)
            state.withLock {
                $0.counters.batches += 1
                $0.counters.items += batch.count
                $0.counters.largest = max($0.counters.largest, batch.count)
                $0.counters.callMicros += Int64(micros)
            }
        }
    }

    private func send(_ batch: [Entry], until deadline: ContinuousClock.Instant) async {
        var pauseMs = 20
        while true {
            do {
                let outcomes = try await call(batch.map(\.item))
                for (entry, outcome) in zip(batch, outcomes) { entry.continuation.resume(returning: outcome) }
                return
            } catch .data(let problem) {
                state.withLock { $0.counters.failures += 1 }
                guard batch.count > 1 else {
                    logger.error("a write was refused by the database", metadata: ["reason": "\(problem.detail)"])
                    batch[0].continuation.resume(throwing: problem)
                    return
                }
                // Halved until the guilty item stands alone; the others go through.
                await send(Array(batch[..<(batch.count / 2)]), until: deadline)
                await send(Array(batch[(batch.count / 2)...]), until: deadline)
                return
            } catch {
                // The same items again do no harm: ids and marks make every write idempotent.
                state.withLock { $0.counters.failures += 1 }
                guard ContinuousClock.now < deadline, (try? await Task.sleep(for: .milliseconds(pauseMs))) != nil else {
                    for entry in batch { entry.continuation.resume(throwing: error.problem) }
                    return
                }
                pauseMs = min(pauseMs * 2, 500)
            }
        }
    }
}
