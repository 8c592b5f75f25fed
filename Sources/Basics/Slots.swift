// How many jobs run at once, with a bounded and fair line before them. The decisions are SlotLine's.

import Synchronization

/// The numbers of a set of slots.
package struct SlotLimits: Sendable {
    /// Jobs at once.
    package var slotCount: Int
    /// Jobs in line, of all lanes.
    package var waitingCountMax: Int
    /// Jobs of one lane at once.
    package var laneSlotCount: Int
    /// Jobs of one lane in line.
    package var laneWaitingCountMax: Int

    package init(
        slotCount: Int, waitingCountMax: Int, laneSlotCount: Int = .max, laneWaitingCountMax: Int = .max
    ) {
        precondition(slotCount > 0 && waitingCountMax >= 0 && laneSlotCount > 0 && laneWaitingCountMax >= 0)
        self.slotCount = slotCount
        self.waitingCountMax = waitingCountMax
        self.laneSlotCount = laneSlotCount
        self.laneWaitingCountMax = laneWaitingCountMax
    }
}

/// Why a job was not let into the line.
package enum SlotRefusal: Error {
    /// The lane has as many jobs in line as one lane may have.
    case laneFull
    /// The lanes together have as many jobs in line as there may be.
    case full
}

/// Slots for jobs of many lanes (accounts, addresses), which are served in turn: a lane with many jobs waits behind its
/// own jobs and delays another lane by one job at most. A caller that is cancelled in line loses its place.
package final class Slots<Lane: Hashable & Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Void, any Error>
    private struct State {
        var line: SlotLine<Lane, Waiter>
        var lastID: UInt64 = 0
    }

    private let state: Mutex<State>

    package init(_ limits: SlotLimits) { state = Mutex(State(line: SlotLine(limits))) }

    /// How many jobs run and how many wait.
    package var load: (busy: Int, waiting: Int) { state.withLock { ($0.line.busyCount, $0.line.waitingCount) } }

    /// Waits for a slot. The caller then owns it and calls `leave` once.
    ///
    /// - Throws: `SlotRefusal`, `CancellationError`; the caller owns no slot then.
    package func enter(_ lane: Lane) async throws {
        try Task.checkCancellation()
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: Waiter) in
                switch state.withLock({ $0.line.enter(lane, id: id, waiter) }) {
                case .go: waiter.resume()
                case .laneFull: waiter.resume(throwing: SlotRefusal.laneFull)
                case .full: waiter.resume(throwing: SlotRefusal.full)
                case .wait: break
                case .waitInsteadOf(let displaced): displaced.resume(throwing: SlotRefusal.full)
                }
                // The handler may have run before the waiter was in line. After a `.go` or a refusal it is not in line.
                if Task.isCancelled { giveUp(lane, id) }
            }
        } onCancel: {
            giveUp(lane, id)
        }
    }

    /// Frees a slot of this lane that `enter` returned.
    package func leave(_ lane: Lane) {
        state.withLock { $0.line.leave(lane) }?.resume()
    }

    private func giveUp(_ lane: Lane, _ id: UInt64) {
        state.withLock { $0.line.giveUp(lane, id: id) }?.resume(throwing: CancellationError())
    }
}
