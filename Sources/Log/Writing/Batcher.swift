// One stream of batched writes: what arrives while a call is on its way goes with the next.
import Domain
import Logging
import Postgres
import Store
import Synchronization

/// Who tells a stream of calls how others' go with it: those of other nodes, and of this node's other streams.
protocol Turns: Sendable {
    /// A call begins.
    func begin()
    /// Whether others write, too, so that a batch that follows upon another waits for its turn.
    var areShared: Bool { get }
    /// Says when to take what has gathered.
    func wait(_ take: @escaping @Sendable () -> Void)
    /// No call follows.
    func end()
}

/// Gathers items into calls. One call is under way at a time; a lone item goes at once; nothing waits for a timer.
///
/// It has no task of its own. A call is begun by who brings its first item, or, on the database's I/O thread, by the end
/// of the call before: it is on its way before that one's answers are read. Who waits for an item is a `Caller`, and costs
/// no task either: a batch's outcomes are handed on together.
final class Batcher<Item: Sendable, Caller: Sendable, Outcome: Sendable>: Sendable {
    /// How a batch is written.
    struct Call: Sendable {
        /// Sends it, by the deadline at the latest; `done` hears of its end once, from any thread.
        let begin: @Sendable ([Item], _ deadline: ContinuousClock.Instant, _ done: @escaping Store.BatchDone) -> Void
        /// What its answer says of each item.
        let read: @Sendable (Rows, [Item]) throws(Store.BatchFailure) -> [Outcome]
        /// Nil: others' calls are none of its business.
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
        /// Whether a call is under way, or about to be.
        var isCalling = false
    }

    let metrics = BatchMetrics()
    private let state = Mutex(State())
    private let call: Call
    private let answer: Answer
    private let logger: Logger
    /// How long after it came an item is still sent, and tried again: while the database is away, one call's wait mustn't
    /// come on top of another's. A call that was sent isn't cut short by it.
    private let patience: Duration

    /// - Parameter answer: called once for each item, from any thread, for many items at once where it can be.
    init(patience: Duration = .seconds(5), logger: Logger, call: Call, answer: @escaping Answer) {
        self.patience = patience
        self.logger = logger
        self.call = call
        self.answer = answer
    }

    /// Items that wait for a call.
    var queuedCount: Int { state.withLock { $0.queue.count } }

    /// Writes one item; `waiter` is answered with its own outcome. It is written whether or not anybody still waits: what
    /// has been sent can't be called back.
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

    /// Takes nothing more in; the rest is written.
    func close() {
        state.withLock { $0.queue.close() }
    }

    private func refuse(_ entries: [Entry]) {
        metrics.refusals.add(entries.count)
        let problem = Problem.busy
        answer(entries.map { ($0.waiter, .failure(problem)) })
    }

    /// Sends what waits. Only for who has `isCalling`; gives it up when nothing waits.
    private func sendNext() {
        let start = ContinuousClock.now
        let (late, batch) = state.withLock { state in
            let late = state.queue.take { $0.since + patience <= start }
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
        let deadline = batch[0].since + patience
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

    private func finishAndSendNext(_ batch: [Entry], _ rows: Rows) {
        guard let turns = call.turns, turns.areShared else {
            sendNext()
            finish(batch, rows)
            return
        }
        // Read first: what others wrote is asked for from there on.
        let outcomes = outcomes(of: batch, in: rows)
        turns.wait { self.sendNext() }
        answer(outcomes)
    }

    private func finish(_ batch: [Entry], _ rows: Rows) {
        answer(outcomes(of: batch, in: rows))
    }

    private func outcomes(of batch: [Entry], in rows: Rows) -> [(Caller, Result<Outcome, Problem>)] {
        do {
            return zip(batch, try call.read(rows, batch.map { $0.item })).map { ($0.waiter, .success($1)) }
        } catch {
            metrics.failures.add()
            logger.error("a batch's answer can't be read", metadata: ["reason": "\(error.problem.detail)"])
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
            if case .data(let problem) = failure {
                guard batch.count > 1 else {
                    logger.error("a write was refused by the database", metadata: ["reason": "\(problem.detail)"])
                    answer([(batch[0].waiter, .failure(problem))])
                    return
                }
                // Halved until the guilty item stands alone; the others go through.
                for half in [batch[..<(batch.count / 2)], batch[(batch.count / 2)...]] {
                    await send(Array(half), until: deadline)
                }
                return
            }
            // The same items again do no harm: ids and marks make every write idempotent.
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
    ) async -> Result<Rows, Store.BatchFailure> {
        let start = ContinuousClock.now
        defer { metrics.calls.record(ContinuousClock.now - start) }
        return await withCheckedContinuation { continuation in
            call.begin(batch.map { $0.item }, deadline) { continuation.resume(returning: $0) }
        }
    }
}
