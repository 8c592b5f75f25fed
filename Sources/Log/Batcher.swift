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
/// Who waits for an item is a `Waiter`, and costs no task: a batch's outcomes are handed on together.
final class Batcher<Item: Sendable, Waiter: Sendable, Outcome: Sendable>: Sendable {
    typealias Call = @Sendable ([Item]) async throws(Store.BatchFailure) -> [Outcome]
    typealias Answer = @Sendable ([(Waiter, Result<Outcome, Problem>)]) -> Void

    private struct Entry: Sendable {
        let item: Item
        let waiter: Waiter
    }

    private struct State {
        var queue: BatchQueue<Entry>
        var counters = BatchCounters()
    }

    private let state: Mutex<State>
    private let signal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let call: Call
    private let answer: Answer
    private let logger: Logger
    /// How long a batch is tried again while the database is away.
    private let patience: Duration

    /// - Parameter answer: called once for each item, from any thread, for many items at once where it can be.
    init(patience: Duration = .seconds(5), logger: Logger, call: @escaping Call, answer: @escaping Answer) {
        state = Mutex(State(queue: BatchQueue()))
        self.patience = patience
        self.logger = logger
        self.call = call
        self.answer = answer
    }

    var counters: BatchCounters {
        state.withLock {
            var counters = $0.counters
            counters.queued = $0.queue.count
            return counters
        }
    }

    /// Writes one item; `waiter` is answered with its own outcome. It is written whether or not anybody still waits: what
    /// has been sent can't be called back.
    func submit(_ item: Item, byteCount: Int, waiter: Waiter) {
        let admission = state.withLock {
            $0.queue.add(Entry(item: item, waiter: waiter), byteCount: byteCount)
        }
        switch admission {
        case .first: signal.continuation.yield()
        case .queued: break
        case .full:
            answer([(waiter, .failure(Problem(.overloaded, "The service is busy. Try again.", retryAfterS: 1)))])
        case .closed:
            answer([(waiter, .failure(Problem(.unavailable, "The service is stopping.", retryAfterS: 1)))])
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
                answer(zip(batch, outcomes).map { ($0.waiter, .success($1)) })
                return
            } catch .data(let problem) {
                state.withLock { $0.counters.failures += 1 }
                guard batch.count > 1 else {
                    logger.error("a write was refused by the database", metadata: ["reason": "\(problem.detail)"])
                    answer([(batch[0].waiter, .failure(problem))])
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
                    answer(batch.map { ($0.waiter, .failure(error.problem)) })
                    return
                }
                pauseMs = min(pauseMs * 2, 500)
            }
        }
    }
}
