// The batched writes of the service: messages and receipts. Rarer changes call the store directly.
import Domain
import Logging
import Store

/// Writes messages and marks in batches, each item with its own outcome.
package final class Writer: Sendable {
    private let messages: Batcher<NewMessage, Store.Appended>
    private let receipts: Batcher<ReceiptMove, Problem?>

    package init(_ store: Store, logger: Logger) {
        messages = Batcher(logger: logger) { batch throws(Store.BatchFailure) in try await store.append(batch) }
        receipts = Batcher(logger: logger) { batch throws(Store.BatchFailure) in try await store.put(batch) }
    }

    package var messageFigures: BatchFigures { messages.figures }
    package var receiptFigures: BatchFigures { receipts.figures }
    package var queuedMessageCount: Int { messages.queuedCount }
    package var queuedReceiptCount: Int { receipts.queuedCount }

    /// Appends a message; `created` is false when the same message was there already. Durable when it returns.
    package func append(_ message: NewMessage) async throws -> (created: Bool, message: JSONText) {
        switch try await messages.submit(message, byteCount: message.payload.utf8.count + 256) {
        case .created(let stored): return (true, stored)
        case .exists(let stored): return (false, stored)
        case .refused(let problem): throw problem
        }
    }

    /// Moves a member's marks forward.
    package func put(_ move: ReceiptMove) async throws {
        if let problem = try await receipts.submit(move, byteCount: 64) { throw problem }
    }

    /// Takes nothing more in; `run` ends when what waits is written.
    package func close() {
        messages.close()
        receipts.close()
    }

    package func run() async {
        async let receipts: Void = receipts.run()
        await messages.run()
        await receipts
    }
}
