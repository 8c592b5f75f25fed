// Which attachments a node checks, and when.
import Basics
import Domain
import Logging
import Store
import Synchronization
import Telemetry
import Workers

/// Checks complete uploads: those that this node has just received at once, and those that a dead node left or that
/// were postponed. Runs on every node. A claim is a lease, so nodes share the work. Accounts take turns, and no account
/// has all slots.
struct AttachmentChecker: Sendable {
    /// Attachments that are checked at once, before their thumbnails: of all accounts, and of one. Each may hold memory
    /// of 2 × `AttachmentBytes.heldByteCountMax`.
    private static let (countMax, accountCountMax) = (3, 2)
    /// Uploads in line: of all accounts, and of one. More are found by the search for leftovers.
    static let lineCountMax = 256
    private static let accountLineCountMax = 64
    /// Between searches for leftovers. A search costs an index probe.
    private static let interval = Duration.seconds(1)

    private enum Work {
        /// An upload that this node has received. The stream ends with its check.
        case upload(AttachmentID, owner: UserID, ended: AsyncStream<Void>.Continuation)
        case leftovers
    }

    private final class State: Sendable {
        /// What the requests pass to the tasks of `run`.
        let work = AsyncStream.makeStream(of: Work.self, bufferingPolicy: .bufferingOldest(lineCountMax))
        /// A flow for each account, and one for leftovers, whose owners are not known before they are claimed.
        let slots = Slots<UserID?>(
            SlotLimits(
                slotCount: countMax, waitingCountMax: lineCountMax, flowSlotCount: accountCountMax,
                flowWaitingCountMax: accountLineCountMax))
        /// Whether a search for leftovers waits.
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
    @Sendable func check(_ attachment: AttachmentID, of owner: UserID) async {
        let (stream, ended) = AsyncStream.makeStream(of: Void.self)
        let work = Work.upload(attachment, owner: owner, ended: ended)
        guard case .enqueued = state.work.continuation.yield(work) else { return }
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
            group.addTask {
                while true {
                    lookForLeftovers()
                    try await Ticker.sleep(Self.interval)
                }
            }
            for await work in state.work.stream {
                group.addTask { try await perform(work) }
            }
        }
    }

    private func lookForLeftovers() {
        guard !state.looksForLeftovers.exchange(true, ordering: .relaxed) else { return }
        // If too much waits, the next tick tries again.
        guard case .enqueued = state.work.continuation.yield(.leftovers) else {
            state.looksForLeftovers.store(false, ordering: .relaxed)
            return
        }
    }

    /// Throws only `CancellationError`.
    private func perform(_ work: Work) async throws {
        switch work {
        case .upload(let attachment, let owner, let ended):
            defer { ended.finish() }
            _ = try await attempt(owner) { try await store.claimAttachment(attachment, leaseSeconds: $0) }
        case .leftovers:
            let hadTurn = try await attempt(nil) { leaseSeconds in
                state.looksForLeftovers.store(false, ordering: .relaxed)
                let job = try await store.claimAttachments(limit: 1, leaseSeconds: leaseSeconds).first
                // The next one waits for its turn while this one is checked.
                if job != nil { lookForLeftovers() }
                return job
            }
            if !hadTurn { state.looksForLeftovers.store(false, ordering: .relaxed) }
        }
    }

    /// Waits for a slot of the flow. Returns false if there is no place in the line: the upload is found later.
    private func attempt(
        _ flow: UserID?, _ claim: (_ leaseSeconds: Int) async throws -> AttachmentJob?
    ) async throws -> Bool {
        let slot: HeldSlot
        do {
            slot = try await state.slots.hold(flow)
        } catch is SlotRefusal {
            return false
        }
        defer { slot.leave() }
        _ = try await worker.attempt {
            guard let job = try await claim(AttachmentProcessor.leaseSeconds) else { return }
            try await processor.process(job, in: slot)
        }
        return true
    }
}
