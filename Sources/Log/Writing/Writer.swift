// The batched writes: messages and receipts. Rarer changes call the store directly.
import Domain
import Logging
import Store
import Synchronization

/// Writes messages and marks in batches, each item with its own outcome. A `Caller` waits for a message.
package final class Writer<Caller: Sendable>: Sendable {
    package typealias Appended = Result<Store.Appended, Problem>
    private typealias ReceiptWaiter = CheckedContinuation<Void, any Error>

    private let messages: Batcher<NewMessage, Caller, Store.Appended>
    private let receipts: Batcher<ReceiptMove, ReceiptWaiter, Store.Moved>
    /// Threads in which this node still has to publish receipts.
    package let unpublished = UnpublishedReceipts()

    /// - Parameters:
    ///   - tail: receives the written events before the callers receive their answers.
    ///   - answer: answers the callers; called without any lock held, from any thread, for a whole batch at once.
    package init(
        _ store: Store, tail: Tail, logger: Logger, answer: @escaping @Sendable ([(Caller, Appended)]) -> Void
    ) {
        let heads = ThreadHeads()
        let checks = Mutex(IDChecks())
        messages = Batcher(
            logger: logger,
            call: .init(
                begin: { batch, deadline, done in
                    let known = heads.known(of: batch)
                    @Sendable func append(isChecked: Bool, _ done: @escaping Store.BatchDone) {
                        store.append(
                            batch, known: known, node: tail.node, isChecked: isChecked, by: deadline, done)
                    }
                    @Sendable func finish(_ result: Result<Store.UndecodedBatch, Store.BatchFailure>) {
                        if case .failure = result { tail.check() }
                        done(result)
                    }
                    let isChecked = checks.withLock { $0.next() }
                    append(isChecked: isChecked) { result in
                        guard !isChecked, case .failure(.idTaken) = result else { return finish(result) }
                        checks.withLock { $0.found() }
                        append(isChecked: true, finish)
                    }
                },
                read: { rows, batch throws(Store.BatchFailure) in
                    let (outcomes, written) = try Store.appended(rows, batch)
                    if outcomes.contains(where: \.isOfTakenID) { checks.withLock { $0.found() } }
                    heads.learn(from: outcomes, of: batch)
                    tail.take(written: written)
                    return outcomes
                },
                turns: tail),
            answer: answer)
        receipts = Batcher(
            logger: logger,
            call: .init(
                begin: { batch, deadline, done in store.put(batch, by: deadline, done) },
                read: { [unpublished] rows, batch throws(Store.BatchFailure) in
                    let outcomes = try Store.moved(rows, batch)
                    unpublished.add(outcomes, of: batch)
                    return outcomes
                }),
            answer: { for (waiter, outcome) in $0 { waiter.resume(with: Self.result(of: outcome)) } })
    }

    package var messageMetrics: BatchMetrics { messages.metrics }
    package var receiptMetrics: BatchMetrics { receipts.metrics }
    package var queuedMessageCount: Int { messages.queuedCount }
    package var queuedReceiptCount: Int { receipts.queuedCount }

    /// Appends a message. It is durable when its waiter gets the answer.
    package func append(_ message: NewMessage, waiter: Caller) {
        messages.submit(
            message, byteCount: message.payload.utf8.count + 512 * message.attachments.count + 256, waiter: waiter)
    }

    /// Moves a member's marks forward.
    package func put(_ move: ReceiptMove) async throws {
        try await withCheckedThrowingContinuation { receipts.submit(move, byteCount: 64, waiter: $0) }
    }

    private static func result(of outcome: Result<Store.Moved, Problem>) -> Result<Void, any Error> {
        switch outcome {
        case .success(.done): .success(())
        case .success(.refused(let problem)), .failure(let problem): .failure(problem)
        }
    }

    /// Accepts no more items; the waiting ones are written.
    package func close() {
        messages.close()
        receipts.close()
    }
}

/// The last seqs that this node knows, by thread. If another node has gone further, an append takes a little longer.
private final class ThreadHeads: Sendable {
    private static let countMax = 100_000

    private let seqs = Mutex<[ThreadID: Seq]>([:])

    func known(of batch: [NewMessage]) -> [Seq?] {
        seqs.withLock { seqs in batch.map { seqs[$0.thread] } }
    }

    func learn(from outcomes: [Store.Appended], of batch: [NewMessage]) {
        seqs.withLock { seqs in
            // Busy threads come back soon.
            if seqs.count > Self.countMax { seqs.removeAll(keepingCapacity: true) }
            for (message, outcome) in zip(batch, outcomes) {
                if case .created(_, let seq) = outcome { seqs[message.thread] = seq }
            }
        }
    }
}
