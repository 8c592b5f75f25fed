// How many jobs run at once, with a bounded and fair line before them. The decisions are SlotLine's.

import Synchronization

/// The numbers of a set of slots.
package struct SlotLimits: Sendable {
    /// Jobs at once.
    package var slotCount: Int
    /// Jobs in line, of all flows.
    package var waitingCountMax: Int
    /// Jobs of one flow at once.
    package var flowSlotCount: Int
    /// Jobs of one flow in line.
    package var flowWaitingCountMax: Int

    package init(
        slotCount: Int, waitingCountMax: Int, flowSlotCount: Int = .max, flowWaitingCountMax: Int = .max
    ) {
        precondition(slotCount > 0 && waitingCountMax >= 0 && flowSlotCount > 0 && flowWaitingCountMax >= 0)
        self.slotCount = slotCount
        self.waitingCountMax = waitingCountMax
        self.flowSlotCount = flowSlotCount
        self.flowWaitingCountMax = flowWaitingCountMax
    }
}

/// Why a job got no slot.
package enum SlotRefusal: Error {
    /// The flow has as many jobs in line as one flow may have, or none of its running jobs ended in time.
    case flowFull
    /// The flows together have as many jobs in line as there may be, or no slot was free in time.
    case full
}

/// Slots for jobs of many flows (accounts, addresses), which are served in turn: a flow with many jobs waits behind its
/// own jobs and delays another flow by one job at most. A caller that is cancelled in line loses its place.
package final class Slots<Flow: Hashable & Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Void, any Error>
    private struct State {
        var line: SlotLine<Flow, Waiter>
        var lastID: UInt64 = 0
    }

    private let state: Mutex<State>

    package init(_ limits: SlotLimits) { state = Mutex(State(line: SlotLine(limits))) }

    /// How many jobs run and how many wait.
    package var load: (busy: Int, waiting: Int) { state.withLock { ($0.line.busyCount, $0.line.waitingCount) } }

    /// Waits for a slot, for `time` at most. The caller then owns it and calls `leave` once. Does not suspend while a
    /// slot is free.
    ///
    /// - Throws: `SlotRefusal`, `CancellationError`; the caller owns no slot then.
    package func enter(_ flow: Flow, within time: Duration? = nil) async throws {
        try Task.checkCancellation()
        let id: UInt64? = state.withLock { state in
            if state.line.begin(flow) { return nil }
            state.lastID += 1
            return state.lastID
        }
        guard let id else { return }
        guard let time else { return try await wait(flow, id, until: nil) }
        let deadline = ContinuousClock.now + time
        // Cancelled when this scope ends.
        async let _: Void = giveUp(flow, id, at: deadline)
        try await wait(flow, id, until: deadline)
    }

    /// Returns whether the caller owns a slot now. Then it calls `leave` once.
    package func enterIfFree(_ flow: Flow) -> Bool { state.withLock { $0.line.begin(flow) } }

    /// Returns a slot if one is free now.
    package func holdIfFree(_ flow: Flow) -> HeldSlot? {
        enterIfFree(flow) ? HeldSlot { self.leave(flow) } : nil
    }

    /// Frees a slot of this flow that `enter` returned.
    package func leave(_ flow: Flow) {
        state.withLock { $0.line.leave(flow) }?.resume()
    }

    /// Waits for a slot as `enter` does. It is free again when the returned object is released, or before.
    package func hold(_ flow: Flow, within time: Duration? = nil) async throws -> HeldSlot {
        try await enter(flow, within: time)
        return HeldSlot { self.leave(flow) }
    }

    /// Passes a slot of a flow to a job of another one, past the line. The job that had it must not call `leave`.
    package func pass(_ flow: Flow, to other: Flow) { state.withLock { $0.line.pass(flow, to: other) } }

    private func wait(_ flow: Flow, _ id: UInt64, until deadline: ContinuousClock.Instant?) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: Waiter) in
                switch state.withLock({ $0.line.enter(flow, id: id, waiter) }) {
                case .go: waiter.resume()
                case .flowFull: waiter.resume(throwing: SlotRefusal.flowFull)
                case .full: waiter.resume(throwing: SlotRefusal.full)
                case .wait: break
                case .waitInsteadOf(let displaced): displaced.resume(throwing: SlotRefusal.full)
                }
                // The handler, or the end of the time, may have come before the waiter was in line. After a `.go` or a
                // refusal it is not in line.
                if Task.isCancelled { giveUp(flow, id, CancellationError()) }
                if let deadline, deadline <= .now { giveUpLate(flow, id) }
            }
        } onCancel: {
            giveUp(flow, id, CancellationError())
        }
    }

    private func giveUp(_ flow: Flow, _ id: UInt64, at deadline: ContinuousClock.Instant) async {
        guard (try? await Task.sleep(until: deadline, clock: .continuous)) != nil else { return }
        giveUpLate(flow, id)
    }

    private func giveUpLate(_ flow: Flow, _ id: UInt64) {
        let (waiter, mayStart) = state.withLock { ($0.line.giveUp(flow, id: id), $0.line.mayStart(flow)) }
        waiter?.resume(throwing: mayStart ? SlotRefusal.full : .flowFull)
    }

    private func giveUp(_ flow: Flow, _ id: UInt64, _ error: any Error) {
        state.withLock { $0.line.giveUp(flow, id: id) }?.resume(throwing: error)
    }
}

/// A slot that a job owns until it leaves, or until the last reference is released: the end of a streamed answer has
/// many forms.
package final class HeldSlot: Sendable {
    private let free: Mutex<(@Sendable () -> Void)?>

    package init(free: @escaping @Sendable () -> Void) { self.free = Mutex(free) }

    deinit { leave() }

    /// Frees the slot. Does nothing if it is free already.
    package func leave() { take()?() }

    /// Returns whether the slot was still held. It must be passed on then.
    package func giveAway() -> Bool { take() != nil }

    private func take() -> (@Sendable () -> Void)? { free.withLock { $0.take() } }
}
