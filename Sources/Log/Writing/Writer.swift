// The batched writes of the service: messages and receipts. Rarer changes call the store directly.
import Domain
import Logging
import Store
import Synchronization

/// Writes messages and marks in batches, each item with its own outcome. Who waits for a message is a `Caller`.
package final class Writer<Caller: Sendable>: Sendable {
    package typealias Appended = Result<Store.Appended, Problem>
    private typealias ReceiptWaiter = CheckedContinuation<Void, any Error>

    private let messages: Batcher<NewMessage, Caller, Store.Appended>
    private let receipts: Batcher<ReceiptMove, ReceiptWaiter, Store.Moved>
    /// Where others are still to hear of what was written here.
    package let untold = UntoldReceipts()

    /// - Parameters:
    ///   - tail: gets what was written, before those who wait are told.
    ///   - answer: tells those who wait what became of their messages; called without any lock held, from any thread, for
    ///     a whole batch at once.
    package init(
        _ store: Store, tail: Tail, logger: Logger, answer: @escaping @Sendable ([(Caller, Appended)]) -> Void
    ) {
        let heads = ThreadHeads()
        messages = Batcher(
            logger: logger,
            call: .init(
                begin: { batch, deadline, done in
                    store.append(batch, known: heads.known(of: batch), node: tail.node, by: deadline) { result in
                        if case .failure = result { tail.check() }
                        done(result)
                    }
                },
                read: { rows, batch throws(Store.BatchFailure) in
                    let (outcomes, written) = try Store.appended(rows, batch)
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
                read: { [untold] rows, batch throws(Store.BatchFailure) in
                    let outcomes = try Store.moved(rows, batch)
                    untold.note(outcomes, of: batch)
                    return outcomes
                }),
            answer: { for (waiter, outcome) in $0 { waiter.resume(with: Self.result(of: outcome)) } })
    }

    package var messageMetrics: BatchMetrics { messages.metrics }
    package var receiptMetrics: BatchMetrics { receipts.metrics }
    package var queuedMessageCount: Int { messages.queuedCount }
    package var queuedReceiptCount: Int { receipts.queuedCount }

    /// Appends a message. Durable when its waiter is told so.
    package func append(_ message: NewMessage, waiter: Caller) {
        messages.submit(message, byteCount: message.payload.utf8.count + 256, waiter: waiter)
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

    /// Takes nothing more in; what waits is written.
    package func close() {
        messages.close()
        receipts.close()
    }
}

/// The last seqs that this node has given out, by thread. Another node may have gone further; that costs a little time.
private final class ThreadHeads: Sendable {
    private static let countMax = 100_000

    private let seqs = Mutex<[ThreadID: Seq]>([:])

    func known(of batch: [NewMessage]) -> [Seq?] {
        seqs.withLock { seqs in batch.map { seqs[$0.thread] } }
    }

    func learn(from outcomes: [Store.Appended], of batch: [NewMessage]) {
        seqs.withLock { seqs in
            // Those that are written to come back soon.
            if seqs.count > Self.countMax { seqs.removeAll(keepingCapacity: true) }
            for (message, outcome) in zip(batch, outcomes) {
                if case .created(_, let seq) = outcome { seqs[message.thread] = seq }
            }
        }
    }
}
