// How many uploads and downloads run at once: on a node, and of one account. A transfer may last for minutes, so these
// are not the limits of short reads (Limits/AccountReads.swift).
import Basics
import Domain
import Synchronization
import Telemetry

/// Slots for transfers of one direction. Small files have slots of their own, so that they never wait for large ones.
struct TransferSlots: Sendable {
    /// Transfers of up to this size use the slots for small files.
    static let smallByteCountMax = 1024 * 1024

    let small: TransferLine
    let large: TransferLine

    /// - Parameters:
    ///   - noun: "uploads" or "downloads".
    ///   - displaced: counts transfers that gave their slot to another.
    init(_ noun: String, countMax: Int, accountCountMax: Int, displaced: Counter) {
        func line() -> TransferLine {
            TransferLine(noun, countMax: countMax, accountCountMax: accountCountMax, displaced: displaced)
        }
        (small, large) = (line(), line())
    }

    /// Waits for a slot. It is free again when the returned object is released.
    /// - Parameter byteCount: the bytes of this transfer; nil if they are not known.
    /// - Throws: 429 if the account has too many transfers, 503 if the node has, `CancellationError`.
    func begin(by user: UserID, from address: IPAddress?, byteCount: Int?) async throws -> TransferSlot {
        let isSmall = byteCount.map { $0 <= Self.smallByteCountMax } ?? false
        return try await (isSmall ? small : large).begin(by: user, from: address)
    }
}

/// Some slots, with a short line before them. When all are taken, a newcomer whose account and address hold few takes
/// the slot of the one that holds the most and is slowest (TransferHolders.swift).
final class TransferLine: Sendable {
    private static let waitMax = Duration.seconds(5)

    private struct State {
        var holders = TransferHolders()
        var transfers: [UInt64: RunningTransfer] = [:]
        var lastID: UInt64 = 0

        mutating func remove(_ id: UInt64) -> RunningTransfer? {
            holders.remove(id)
            return transfers.removeValue(forKey: id)
        }
    }

    private let countMax: Int
    private let accountCountMax: Int
    private let slots: CallSlots<UserID>
    private let displaced: Counter
    private let state = Mutex(State())

    init(_ noun: String, countMax: Int, accountCountMax: Int, displaced: Counter) {
        self.countMax = countMax
        self.accountCountMax = accountCountMax
        self.displaced = displaced
        slots = CallSlots(
            SlotLimits(
                slotCount: countMax, waitingCountMax: 4 * countMax, flowSlotCount: accountCountMax,
                flowWaitingCountMax: 4 * accountCountMax),
            waitMax: Self.waitMax,
            flowFull: Problem(
                .rateLimited, "At most \(accountCountMax) \(noun) of an account run at once. Retry when one has ended.",
                retryAfterS: 2),
            full: Problem(
                .overloaded, "This node has too many \(noun). Retry after the seconds in Retry-After.",
                retryAfterS: 2))
    }

    /// How many transfers run and how many wait.
    var load: (busy: Int, waiting: Int) { slots.load }

    func begin(by user: UserID, from address: IPAddress?) async throws -> TransferSlot {
        if let slot = slots.holdIfFree(user) { return add(slot, user, address) }
        if let slot = displace(for: user, address) { return slot }
        return add(try await slots.hold(user), user, address)
    }

    private func add(_ slot: HeldSlot, _ user: UserID, _ address: IPAddress?) -> TransferSlot {
        state.withLock { add(slot, user, address, &$0) }
    }

    private func add(
        _ slot: HeldSlot, _ user: UserID, _ address: IPAddress?, _ state: inout State
    ) -> TransferSlot {
        state.lastID += 1
        let (id, transfer) = (state.lastID, RunningTransfer(account: user, slot: slot))
        state.transfers[id] = transfer
        state.holders.add(id, of: user, at: address, now: .now)
        return TransferSlot(transfer) { [weak self] in _ = self?.state.withLock { $0.remove(id) } }
    }

    private func displace(for user: UserID, _ address: IPAddress?) -> TransferSlot? {
        let change: (slot: TransferSlot, loser: RunningTransfer)? = state.withLock { state in
            guard slots.load.busy >= countMax, state.holders.count(of: user) < accountCountMax else { return nil }
            let id = state.holders.displaced(by: user, at: address, now: .now) { id in
                state.transfers[id]?.byteCount.load(ordering: .relaxed) ?? 0
            }
            // The slot is free already if the transfer has just ended.
            guard let id, let loser = state.remove(id), loser.slot.giveAway() else { return nil }
            return (add(slots.pass(loser.account, to: user), user, address, &state), loser)
        }
        guard let change else { return nil }
        displaced.add()
        change.loser.cut()
        return change.slot
    }
}

/// A transfer that has a slot, or had one.
final class RunningTransfer: Sendable {
    fileprivate let account: UserID
    fileprivate let slot: HeldSlot
    fileprivate let byteCount = Atomic(0)
    private let end = Mutex((isCut: false, action: (@Sendable () -> Void)?.none))

    fileprivate init(account: UserID, slot: HeldSlot) {
        self.account = account
        self.slot = slot
    }

    fileprivate func cut() {
        end.withLock { end in
            end.isCut = true
            return end.action.take()
        }?()
    }

    /// Sets what cuts the transfer, and calls it at once if another has the slot already.
    fileprivate func whenCut(_ action: @escaping @Sendable () -> Void) {
        let isCut = end.withLock { end in
            if !end.isCut { end.action = action }
            return end.isCut
        }
        if isCut { action() }
    }
}

/// One transfer's slot. Released with the last reference, because the end of a streamed answer has many forms.
final class TransferSlot: Sendable {
    private let transfer: RunningTransfer
    private let end: @Sendable () -> Void

    fileprivate init(_ transfer: RunningTransfer, end: @escaping @Sendable () -> Void) {
        self.transfer = transfer
        self.end = end
    }

    deinit {
        end()
        transfer.slot.leave()
    }

    /// Counts bytes that have moved.
    func add(_ byteCount: Int) { transfer.byteCount.add(byteCount, ordering: .relaxed) }

    /// Sets what ends the transfer when another needs its slot.
    func whenDisplaced(_ cut: @escaping @Sendable () -> Void) { transfer.whenCut(cut) }
}
