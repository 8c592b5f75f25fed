// One stream of batched writes: items that arrive during a call go with the next call.
import Domain
import Logging
import Store
import Synchronization

/// Coordinates a stream of calls with other writers of the log.
protocol Turns: Sendable {
    /// A call begins.
    func begin()
    /// Whether others write too, so that a batch right after another waits for its turn.
    var areShared: Bool { get }
    /// Calls `take` when it is this node's turn.
    func wait(_ take: @escaping @Sendable () -> Void)
    /// No call follows.
    func end()
}

/// Gathers items into calls. One call is under way at a time. A lone item is sent at once; nothing waits for a timer.
///
/// It has no task of its own. The submitter of the first item begins a call. Later calls are begun on the database's
/// I/O thread by the end of the previous call, before that call's answers are read. A `Caller` waits for an item and
/// costs no task: a batch's outcomes are handed on together.
final class Batcher<Item: Sendable, Caller: Sendable, Outcome: Sendable>: Sendable {
    /// How a batch is written.
    struct Call: Sendable {
        /// Sends a batch, by the deadline at the latest; `done` is called once, from any thread.
        let begin: @Sendable ([Item], _ deadline: ContinuousClock.Instant, _ done: @escaping Store.BatchDone) -> Void
        /// Decodes the answer: an outcome for each item.
        let read: @Sendable (Store.UndecodedBatch, [Item]) throws(Store.BatchFailure) -> [Outcome]
        /// Nil: this stream does not coordinate with others.
        var turns: (any Turns)?
    }
    typealias Answer = @Sendable ([(Caller, Result<Outcome, Problem>)]) -> Void

    private struct Entry: Sendable {
        let item: Item
        let waiter: Caller
        let since: ContinuousClock.Instant
    }

    private struct State {
        var queue = BatchQueue<Entry>()
        /// Whether a call is under way, or about to begin.
        var isCalling = false
    }

    let metrics = BatchMetrics()
    private let state = Mutex(State())
    private let call: Call
    private let answer: Answer
    private let logger: Logger
    /// How long after its arrival an item is still sent, or retried: while the database is down, the waits of calls
    /// must not add up. It does not interrupt a call that was sent.
    private let queuedMax: Duration

    /// - Parameter answer: called once for each item, from any thread, with many items at once where possible.
    init(queuedMax: Duration = .seconds(5), logger: Logger, call: Call, answer: @escaping Answer) {
        self.queuedMax = queuedMax
        self.logger = logger
        self.call = call
        self.answer = answer
    }

    /// Items that wait for a call.
    var queuedCount: Int { state.withLock { $0.queue.count } }

    /// Writes one item, and answers `waiter` with its outcome. The item is written even if its client has gone: a call
    /// that was sent cannot be cancelled.
    func submit(_ item: Item, byteCount: Int, waiter: Caller) {
        let entry = Entry(item: item, waiter: waiter, since: .now)
        let (admission, isFirst) = state.withLock { state in
            let admission = state.queue.add(entry, byteCount: byteCount)
            let isFirst = admission == .queued && !state.isCalling
            if isFirst { state.isCalling = true }
            return (admission, isFirst)
        }
        switch admission {
        case .queued: if isFirst { sendNext() }
        case .full: refuse([entry])
        case .closed:
            answer([(waiter, .failure(.stopping))])
        }
    }

    /// Accepts no more items; the waiting ones are written.
    func close() {
        state.withLock { $0.queue.close() }
    }

    private func refuse(_ entries: [Entry]) {
        metrics.refusals.add(entries.count)
        let problem = Problem.busy
        answer(entries.map { ($0.waiter, .failure(problem)) })
    }

    /// Sends the waiting items. Only the caller that has set `isCalling` may call this. Clears it when nothing waits.
    private func sendNext() {
        let start = ContinuousClock.now
        let (late, batch) = state.withLock { state in
            let late = state.queue.take { $0.since + queuedMax <= start }
            let batch = state.queue.take()
            if batch.isEmpty { state.isCalling = false }
            return (late, batch)
        }
        if !late.isEmpty { refuse(late) }
        guard !batch.isEmpty else {
            call.turns?.end()
            return
        }
        metrics.sizes.record(batch.count)
        for entry in batch { metrics.waits.record(start - entry.since) }
        call.turns?.begin()
        let deadline = batch[0].since + queuedMax
        call.begin(batch.map { $0.item }, deadline) { result in
            self.metrics.calls.record(ContinuousClock.now - start)
            switch result {
            case .success(let rows): self.finishAndSendNext(batch, rows)
            case .failure(let failure):
                Task {
                    await self.sendAgain(batch, after: failure, until: deadline)
                    self.sendNext()
                }
            }
        }
    }

    private func finishAndSendNext(_ batch: [Entry], _ rows: Store.UndecodedBatch) {
        guard let turns = call.turns, turns.areShared else {
            sendNext()
            finish(batch, rows)
            return
        }
        // Decode first: the tail asks for other nodes' events after this batch's.
        let outcomes = outcomes(of: batch, in: rows)
        turns.wait { self.sendNext() }
        answer(outcomes)
    }

    private func finish(_ batch: [Entry], _ rows: Store.UndecodedBatch) {
        answer(outcomes(of: batch, in: rows))
    }

    private func outcomes(of batch: [Entry], in rows: Store.UndecodedBatch) -> [(Caller, Result<Outcome, Problem>)] {
        do {
            return zip(batch, try call.read(rows, batch.map { $0.item })).map { ($0.waiter, .success($1)) }
        } catch {
            metrics.failures.add()
            logger.error(
                "decoding the answer to a batch failed",
                metadata: ["reason": "\(error.problem.detail)"])
            return batch.map { ($0.waiter, .failure(error.problem)) }
        }
    }

    private func sendAgain(
        _ batch: [Entry], after failure: Store.BatchFailure, until deadline: ContinuousClock.Instant
    ) async {
        var failure = failure
        var pauseMs = 20
        while true {
            metrics.failures.add()
            if failure.isOfOneItem {
                guard batch.count > 1 else {
                    logger.error(
                        "the database refused a write",
                        metadata: ["reason": "\(failure.problem.detail)"])
                    answer([(batch[0].waiter, .failure(failure.problem))])
                    return
                }
                // Halve the batch until the guilty item is alone; the other items succeed.
                for half in [batch[..<(batch.count / 2)], batch[(batch.count / 2)...]] {
                    await send(Array(half), until: deadline)
                }
                return
            }
            // Retrying the same items does no harm: ids and marks make every write idempotent.
            guard ContinuousClock.now < deadline, (try? await Task.sleep(for: .milliseconds(pauseMs))) != nil else {
                answer(batch.map { ($0.waiter, .failure(failure.problem)) })
                return
            }
            pauseMs = min(pauseMs * 2, 500)
            switch await result(of: batch, by: deadline) {
            case .success(let rows): return finish(batch, rows)
            case .failure(let next): failure = next
            }
        }
    }

    private func send(_ batch: [Entry], until deadline: ContinuousClock.Instant) async {
        switch await result(of: batch, by: deadline) {
        case .success(let rows): finish(batch, rows)
        case .failure(let failure): await sendAgain(batch, after: failure, until: deadline)
        }
    }

    private func result(
        of batch: [Entry], by deadline: ContinuousClock.Instant
    ) async -> Result<Store.UndecodedBatch, Store.BatchFailure> {
        let start = ContinuousClock.now
        defer { metrics.calls.record(ContinuousClock.now - start) }
        return await withCheckedContinuation { continuation in
            call.begin(batch.map { $0.item }, deadline) { continuation.resume(returning: $0) }
        }
    }
}
