// Which attachments a node checks, and when.
import Domain
import Logging
import Store
import Synchronization
import Telemetry
import Workers

/// Checks complete uploads: those that this node has just received at once, and those that a dead node left or that
/// were postponed. Runs on every node. A claim is a lease, so nodes share the work.
struct AttachmentChecker: Sendable {
    /// Attachments that are checked at once. One may occupy a core, and memory of
    /// 2 × `AttachmentBytes.heldByteCountMax`.
    private static let laneCount = 2
    /// Uploads in line. More are found by the search for leftovers.
    static let lineCountMax = 256
    /// Between searches for leftovers. A search costs an index probe.
    private static let interval = Duration.seconds(1)

    private enum Work {
        /// An upload that this node has received. The stream ends with its check.
        case upload(AttachmentID, ended: AsyncStream<Void>.Continuation)
        case leftovers
    }

    private final class State: Sendable {
        let line = AsyncStream.makeStream(of: Work.self, bufferingPolicy: .bufferingOldest(lineCountMax))
        /// Whether `line` has `leftovers`.
        let looksForLeftovers = Atomic(false)
    }

    private let store: Store
    private let processor: AttachmentProcessor
    private let worker: Worker
    /// The longest time that the answer to an upload waits for its check. The check continues afterwards.
    private let waitMax: Duration
    private let state = State()

    init(store: Store, processor: AttachmentProcessor, waitMax: Duration = .seconds(15), logger: Logger) {
        self.waitMax = waitMax
        self.store = store
        self.processor = processor
        worker = Worker(
            "checking an attachment", retryAfter: .seconds(AttachmentProcessor.retrySeconds),
            failures: processor.metrics.failures, logger: logger)
    }

    /// Checks an upload that is complete. Returns when that is done, when another node has claimed it, or after `waitMax`.
    @Sendable func check(_ attachment: AttachmentID) async {
        let (stream, ended) = AsyncStream.makeStream(of: Void.self)
        guard case .enqueued = state.line.continuation.yield(.upload(attachment, ended: ended)) else { return }
        await withTaskGroup { group in
            group.addTask { for await _ in stream {} }
            // Ends early only if the client is gone.
            group.addTask { try? await Task.sleep(for: waitMax) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Runs until cancelled.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for _ in 0..<Self.laneCount {
                group.addTask { for await work in state.line.stream { try await perform(work) } }
            }
            group.addTask {
                while true {
                    lookForLeftovers()
                    try await Ticker.sleep(Self.interval)
                }
            }
        }
    }

    private func lookForLeftovers() {
        guard !state.looksForLeftovers.exchange(true, ordering: .relaxed) else { return }
        // In a full line the next tick tries again.
        guard case .enqueued = state.line.continuation.yield(.leftovers) else {
            state.looksForLeftovers.store(false, ordering: .relaxed)
            return
        }
    }

    /// Throws only `CancellationError`.
    private func perform(_ work: Work) async throws {
        switch work {
        case .upload(let attachment, let ended):
            defer { ended.finish() }
            try await attempt { try await store.claimAttachment(attachment, leaseSeconds: $0) }
        case .leftovers:
            state.looksForLeftovers.store(false, ordering: .relaxed)
            let found = try await attempt { try await store.claimAttachments(limit: 1, leaseSeconds: $0).first }
            // Behind the uploads that arrived meanwhile.
            if found { lookForLeftovers() }
        }
    }

    /// Returns whether there was something to check.
    @discardableResult
    private func attempt(_ claim: (_ leaseSeconds: Int) async throws -> AttachmentJob?) async throws -> Bool {
        let found = try await worker.attempt {
            guard let job = try await claim(AttachmentProcessor.leaseSeconds) else { return false }
            try await processor.process(job)
            return true
        }
        return found ?? false
    }
}
