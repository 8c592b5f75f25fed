// One stream of batched writes: what arrives while a call is on its way goes with the next.
import Domain
import Logging
import Store
import Synchronization

/// Gathers items into calls. One call is under way at a time; a lone item goes at once; nothing waits for a timer.
/// Who waits for an item is a `Waiter`, and costs no task: a batch's outcomes are handed on together.
final class Batcher<Item: Sendable, Waiter: Sendable, Outcome: Sendable>: Sendable {
    typealias Call = @Sendable ([Item]) async throws(Store.BatchFailure) -> [Outcome]
    typealias Answer = @Sendable ([(Waiter, Result<Outcome, Problem>)]) -> Void

    private struct Entry: Sendable {
        let item: Item
        let waiter: Waiter
        let since: ContinuousClock.Instant
    }

    let figures = BatchFigures()
    private let queue: Mutex<BatchQueue<Entry>>
    private let signal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let call: Call
    private let answer: Answer
    private let logger: Logger
    /// How long a batch is tried again while the database is away.
    private let patience: Duration

    /// - Parameter answer: called once for each item, from any thread, for many items at once where it can be.
    init(patience: Duration = .seconds(5), logger: Logger, call: @escaping Call, answer: @escaping Answer) {
        queue = Mutex(BatchQueue())
        self.patience = patience
        self.logger = logger
        self.call = call
        self.answer = answer
    }

    /// Items that wait for a call.
    var queuedCount: Int { queue.withLock { $0.count } }

    /// Writes one item; `waiter` is answered with its own outcome. It is written whether or not anybody still waits: what
    /// has been sent can't be called back.
    func submit(_ item: Item, byteCount: Int, waiter: Waiter) {
        let entry = Entry(item: item, waiter: waiter, since: .now)
        switch queue.withLock({ $0.add(entry, byteCount: byteCount) }) {
        case .first: signal.continuation.yield()
        case .queued: break
        case .full:
            figures.refusals.add()
            answer([(waiter, .failure(Problem(.overloaded, "The service is busy. Try again.", retryAfterS: 1)))])
        case .closed:
            answer([(waiter, .failure(Problem(.unavailable, "The service is stopping.", retryAfterS: 1)))])
        }
    }

    /// Takes nothing more in; `run` ends when the rest is written.
    func close() {
        queue.withLock { $0.close() }
        signal.continuation.finish()
    }

    /// Sends batches until closed.
    func run() async {
        for await _ in signal.stream { await sendAll() }
        await sendAll()
    }

    private func sendAll() async {
        while true {
            let batch = queue.withLock { $0.take() }
            if batch.isEmpty { return }
            let start = ContinuousClock.now
            figures.sizes.record(batch.count)
            for entry in batch { figures.waits.record(start - entry.since) }
            await send(batch, until: start + patience)
        }
    }

    private func callOnce(_ batch: [Entry]) async throws(Store.BatchFailure) -> [Outcome] {
        let start = ContinuousClock.now
        defer { figures.calls.record(ContinuousClock.now - start) }
        return try await call(batch.map { $0.item })
    }

    private func send(_ batch: [Entry], until deadline: ContinuousClock.Instant) async {
        var pauseMs = 20
        while true {
            do {
                let outcomes = try await callOnce(batch)
                answer(zip(batch, outcomes).map { ($0.waiter, .success($1)) })
                return
            } catch .data(let problem) {
                figures.failures.add()
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
                figures.failures.add()
                guard ContinuousClock.now < deadline, (try? await Task.sleep(for: .milliseconds(pauseMs))) != nil else {
                    answer(batch.map { ($0.waiter, .failure(error.problem)) })
                    return
                }
                pauseMs = min(pauseMs * 2, 500)
            }
        }
    }
}
