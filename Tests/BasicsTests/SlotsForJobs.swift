// Slots: which jobs run, which wait, and which are refused.
import TestBasics
import Testing

@testable import Basics

@Suite("The line before slots", .timeLimit(.minutes(1)))
struct LinesBeforeSlots {
    /// Waiters are named by their lane and number: `a1`.
    private func enter(_ slots: inout SlotLine<String, String>, _ waiter: String) -> String {
        let id = UInt64(waiter.dropFirst()) ?? 0
        return switch slots.enter(String(waiter.prefix(1)), id: id, waiter) {
        case .go: "go"
        case .wait: "wait"
        case .waitInsteadOf(let displaced): displaced
        case .laneFull, .full: "refused"
        }
    }

    /// Serves all waiters after a first job of lane a.
    private func drain(_ slots: inout SlotLine<String, String>) -> [String] {
        var served: [String] = []
        var lane = "a"
        while let waiter = slots.leave(lane) {
            served.append(waiter)
            lane = String(waiter.prefix(1))
        }
        return served
    }

    @Test("let in up to their number, line up to the limit, refuse the rest")
    func limits() {
        var slots = SlotLine<String, String>(SlotLimits(slotCount: 2, waitingCountMax: 1))
        #expect(["a1", "a2", "a3", "a4"].map { enter(&slots, $0) } == ["go", "go", "wait", "refused"])
        #expect(slots.leave("a") == "a3")
        #expect(slots.busyCount == 2)
        #expect(slots.leave("a") == nil)
        #expect(slots.leave("a") == nil)
        #expect(slots.busyCount == 0)
    }

    @Test("serve a lane in order and forget a waiter that gave up")
    func order() {
        var slots = SlotLine<String, String>(SlotLimits(slotCount: 1, waitingCountMax: 3))
        for waiter in ["a1", "a2", "a3", "a4"] { _ = enter(&slots, waiter) }
        #expect(slots.giveUp("a", id: 3) == "a3")
        #expect(slots.giveUp("a", id: 3) == nil)
        #expect(slots.waitingCount == 2)
        #expect(drain(&slots) == ["a2", "a4"])
    }

    @Test("serve the lanes in turn, however many wait in one")
    func turns() {
        var slots = SlotLine<String, String>(SlotLimits(slotCount: 1, waitingCountMax: 10))
        for waiter in ["a1", "a2", "a3", "a4", "b5", "c6", "b7"] { _ = enter(&slots, waiter) }
        #expect(drain(&slots) == ["b5", "c6", "a2", "b7", "a3", "a4"])
    }

    @Test("make room in a full line for a lane with few at the expense of the longest one, and never for that one")
    func displaces() {
        var slots = SlotLine<String, String>(SlotLimits(slotCount: 1, waitingCountMax: 3))
        for waiter in ["a1", "a2", "a3", "a4"] { _ = enter(&slots, waiter) }
        #expect(enter(&slots, "a5") == "refused")
        #expect(enter(&slots, "b6") == "a4")
        // Now two to one, so a replacement would not improve the balance.
        #expect(enter(&slots, "b7") == "refused")
        #expect(enter(&slots, "c8") == "a3")
        #expect(enter(&slots, "d9") == "refused")
        #expect(slots.waitingCount == 3)
        #expect(drain(&slots) == ["b6", "c8", "a2"])
        #expect(slots.busyCount == 0)
    }

    @Test("pass over a lane that runs as many as it may, and refuse it when its own line is full")
    func lanes() {
        var slots = SlotLine<String, String>(
            SlotLimits(slotCount: 2, waitingCountMax: 3, laneSlotCount: 1, laneWaitingCountMax: 2))
        #expect(
            ["a1", "a2", "a3", "a4", "b5", "b6"].map { enter(&slots, $0) } == [
                "go", "wait", "wait", "refused", "go", "wait",
            ])
        #expect(slots.leave("b") == "b6")
        #expect(slots.leave("b") == nil)
        #expect(slots.busyCount == 1)
        #expect(enter(&slots, "c7") == "go")
        #expect(slots.leave("c") == nil)
        #expect(slots.leave("a") == "a2")
    }
}

@Suite("Slots", .timeLimit(.minutes(1)))
struct SlotsInUse {
    @Test("are given up by a caller that is cancelled in line")
    func cancelled() async throws {
        let slots = Slots<String>(SlotLimits(slotCount: 1, waitingCountMax: 1))
        try await slots.enter("a")
        let second = Task { try await slots.enter("a") }
        try await eventually("the second waits") { slots.load.waiting == 1 }
        await #expect(throws: SlotRefusal.full) { try await slots.enter("a") }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(slots.load == (busy: 1, waiting: 0))
        slots.leave("a")
        #expect(slots.load == (busy: 0, waiting: 0))
    }
}
