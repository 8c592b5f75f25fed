// How many uploads and downloads run at once: on a node, and of one account. A transfer may last for minutes, so these
// are not the limits of short reads (Limits/AccountReads.swift).
import Basics
import Domain

/// Slots for transfers of one direction, with a short line before them.
struct TransferSlots: Sendable {
    private static let waitMax = Duration.seconds(5)

    private let noun: String
    private let countMax: Int
    private let accountCountMax: Int
    private let slots: Slots<UserID>

    /// - Parameter noun: "uploads" or "downloads".
    init(_ noun: String, countMax: Int, accountCountMax: Int) {
        self.noun = noun
        self.countMax = countMax
        self.accountCountMax = accountCountMax
        slots = Slots(
            SlotLimits(
                slotCount: countMax, waitingCountMax: 4 * countMax, laneSlotCount: accountCountMax,
                laneWaitingCountMax: 4 * accountCountMax))
    }

    /// Transfers that run now.
    var busyCount: Int { slots.load.busy }

    /// Waits for a slot. It is free again when the returned object is released.
    /// - Throws: 429 if the account has too many transfers, 503 if the node has, `CancellationError`.
    func begin(by user: UserID) async throws -> TransferSlot {
        do {
            try await enter(user)
        } catch SlotRefusal.laneFull {
            throw accountFull
        } catch SlotRefusal.full {
            throw nodeFull
        }
        return TransferSlot { [slots] in slots.leave(user) }
    }

    private var accountFull: Problem {
        Problem(
            .rateLimited, "At most \(accountCountMax) \(noun) of an account run at once. Retry when one has ended.",
            retryAfterS: 2)
    }

    private var nodeFull: Problem {
        Problem(.overloaded, "This node has too many \(noun). Retry after the seconds in Retry-After.", retryAfterS: 2)
    }

    /// Enters within `waitMax`. The caller then owns a slot.
    private func enter(_ user: UserID) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await slots.enter(user)
                return true
            }
            group.addTask {
                // Ends early when the slot is there. Only the other task decides whether a slot is owned.
                _ = try? await Task.sleep(for: Self.waitMax)
                return false
            }
            var isLate = false
            do {
                while let isEntered = try await group.next() {
                    group.cancelAll()
                    if isEntered { return }
                    isLate = !Task.isCancelled
                }
            } catch is CancellationError where isLate {
                throw slots.load.busy < countMax ? accountFull : nodeFull
            }
        }
    }
}

/// One transfer's slot. Released with the last reference, because the end of a streamed answer has many forms.
final class TransferSlot: Sendable {
    private let leave: @Sendable () -> Void

    init(leave: @escaping @Sendable () -> Void) { self.leave = leave }

    deinit { leave() }
}
