// Slots: which jobs run, which wait, and which are refused.
import TestBasics
import Testing

@testable import Basics

@Suite("The line before slots", .timeLimit(.minutes(1)))
struct LinesBeforeSlots {
    /// Waiters are named by their flow and number: `a1`.
    private func enter(_ slots: inout SlotLine<String, String>, _ waiter: String) -> String {
        let id = UInt64(waiter.dropFirst()) ?? 0
        return switch slots.enter(String(waiter.prefix(1)), id: id, waiter) {
        case .go: "go"
        case .wait: "wait"
        case .waitInsteadOf(let displaced): displaced
        case .flowFull, .full: "refused"
        }
    }

    /// Serves all waiters after a first job of flow a.
    private func drain(_ slots: inout SlotLine<String, String>) -> [String] {
        var served: [String] = []
        var flow = "a"
        while let waiter = slots.leave(flow) {
            served.append(waiter)
            flow = String(waiter.prefix(1))
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

    @Test("serve a flow in order and forget a waiter that gave up")
    func order() {
        var slots = SlotLine<String, String>(SlotLimits(slotCount: 1, waitingCountMax: 3))
        for waiter in ["a1", "a2", "a3", "a4"] { _ = enter(&slots, waiter) }
        #expect(slots.giveUp("a", id: 3) == "a3")
        #expect(slots.giveUp("a", id: 3) == nil)
        #expect(slots.waitingCount == 2)
        #expect(drain(&slots) == ["a2", "a4"])
    }

    @Test("serve the flows in turn, however many wait in one")
    func turns() {
        var slots = SlotLine<String, String>(SlotLimits(slotCount: 1, waitingCountMax: 10))
        for waiter in ["a1", "a2", "a3", "a4", "b5", "c6", "b7"] { _ = enter(&slots, waiter) }
        #expect(drain(&slots) == ["b5", "c6", "a2", "b7", "a3", "a4"])
    }

    @Test("make room in a full line for a flow with few at the expense of the longest one, and never for that one")
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

    @Test("pass over a flow that runs as many as it may, and refuse it when its own line is full")
    func flows() {
        var slots = SlotLine<String, String>(
            SlotLimits(slotCount: 2, waitingCountMax: 3, flowSlotCount: 1, flowWaitingCountMax: 2))
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

extension LinesBeforeSlots {
    @Test("give a free slot to the flow that runs the fewest, whoever came first")
    func fewest() {
        var slots = SlotLine<String, String>(SlotLimits(slotCount: 4, waitingCountMax: 10))
        for waiter in ["a1", "a2", "a3", "b4", "a5", "b6", "c7", "c8"] { _ = enter(&slots, waiter) }
        #expect(slots.leave("a") == "c7")
        // Now all three flows run one.
        #expect(slots.leave("a") == "a5")
        #expect(slots.leave("b") == "b6")
    }

    @Test("pass a slot on to another flow, past the line")
    func passes() {
        var slots = SlotLine<String, String>(
            SlotLimits(slotCount: 2, waitingCountMax: 10, flowSlotCount: 2, flowWaitingCountMax: 10))
        for waiter in ["a1", "a2", "a3"] { _ = enter(&slots, waiter) }
        slots.pass("a", to: "b")
        #expect(slots.busyCount == 2 && slots.waitingCount == 1)
        // Flow a runs one again, so it may have the next slot.
        #expect(slots.leave("b") == "a3")
        #expect(slots.leave("a") == nil)
        #expect(slots.leave("a") == nil)
        #expect(slots.busyCount == 0)
    }

    /// Compares with a model that looks at all flows.
    @Test("never run more than allowed, never lose a waiter, and leave no slot free that a waiter may have")
    func laws() {
        var random = SplitMix64(freshFor: "lines before slots")
        for _ in 0..<50 {
            let limits = SlotLimits(
                slotCount: Int.random(in: 1...4, using: &random),
                waitingCountMax: Int.random(in: 0...8, using: &random),
                flowSlotCount: Int.random(in: 1...3, using: &random),
                flowWaitingCountMax: Int.random(in: 0...4, using: &random))
            var slots = SlotLine<String, String>(limits)
            var (running, waiting): ([String], [String]) = ([], [])
            for id in 0..<200 {
                let flow = ["a", "b", "c", "d"].randomElement(using: &random) ?? "a"
                switch Int.random(in: 0..<8, using: &random) {
                case 0..<4:
                    let waiter = "\(flow)\(id)"
                    switch slots.enter(flow, id: UInt64(id), waiter) {
                    case .go: running.append(flow)
                    case .wait: waiting.append(waiter)
                    case .waitInsteadOf(let other):
                        waiting.removeAll { $0 == other }
                        waiting.append(waiter)
                    case .flowFull, .full: break
                    }
                case 4:
                    guard let waiter = waiting.randomElement(using: &random) else { break }
                    #expect(slots.giveUp(String(waiter.prefix(1)), id: UInt64(waiter.dropFirst()) ?? 0) == waiter)
                    waiting.removeAll { $0 == waiter }
                default:
                    guard let index = running.indices.randomElement(using: &random) else { break }
                    let left = running.remove(at: index)
                    if let next = slots.leave(left) {
                        let mine = waiting.first { $0.prefix(1) == next.prefix(1) }
                        #expect(mine == next, "in order within a flow")
                        waiting.removeAll { $0 == next }
                        running.append(String(next.prefix(1)))
                    }
                }
                func count(_ flow: String) -> Int { running.count { $0 == flow } }
                #expect(slots.busyCount == running.count && slots.waitingCount == waiting.count)
                #expect(running.count <= limits.slotCount && waiting.count <= limits.waitingCountMax)
                #expect(running.allSatisfy { count($0) <= limits.flowSlotCount })
                if running.count < limits.slotCount {
                    #expect(waiting.allSatisfy { count(String($0.prefix(1))) == limits.flowSlotCount })
                }
            }
        }
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

    @Test("are given up by a caller for whom none is free in time, and others keep their places")
    func late() async throws {
        let slots = Slots<String>(SlotLimits(slotCount: 1, waitingCountMax: 2))
        try await slots.enter("a")
        await #expect(throws: SlotRefusal.full) { try await slots.enter("b", within: .milliseconds(20)) }
        let patient = Task { try await slots.enter("b", within: .seconds(60)) }
        try await eventually("one waits") { slots.load.waiting == 1 }
        slots.leave("a")
        try await patient.value
        #expect(slots.load == (busy: 1, waiting: 0))
    }

    @Test("refuse a late caller for its own flow, if that runs all it may")
    func lateFlow() async throws {
        let slots = Slots<String>(SlotLimits(slotCount: 2, waitingCountMax: 2, flowSlotCount: 1))
        try await slots.enter("a")
        await #expect(throws: SlotRefusal.flowFull) { try await slots.enter("a", within: .milliseconds(20)) }
        #expect(slots.load == (busy: 1, waiting: 0))
    }

    @Test("held by an object are free again with its last reference, and only once")
    func held() async throws {
        let slots = Slots<String>(SlotLimits(slotCount: 1, waitingCountMax: 0))
        var slot: HeldSlot? = try await slots.hold("a")
        #expect(slots.holdIfFree("b") == nil)
        slot?.leave()
        let other = try #require(slots.holdIfFree("b"))
        slot = nil
        #expect(slots.load.busy == 1)
        // A slot that is given away is freed by its new owner alone.
        #expect(other.giveAway() && !other.giveAway())
        other.leave()
        #expect(slots.load.busy == 1)
    }
}
