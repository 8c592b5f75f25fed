// How many calls of one kind run at once, of one account or address and on the node. The line before them is that of
// Basics/Slots.swift; here are the answers to callers who get no place in it.
import Basics
import Domain
import Telemetry

/// Slots for calls, by flow: the account or the address that calls. Flows are served in turn.
package final class CallSlots<Flow: Hashable & Sendable>: Sendable {
    /// Calls that waited for a slot.
    let waited = Counter()
    /// Calls that got none.
    let refused = Counter()
    private let slots: Slots<Flow>
    private let waitMax: Duration?
    private let flowFull: Problem
    private let full: Problem

    /// - Parameters:
    ///   - waitMax: how long a call waits. Nil: until it has a slot or is cancelled.
    ///   - flowFull: the answer if the flow has too many calls, 429. Nil if flows have no limits of their own.
    ///   - full: the answer if all flows together have, 503. Nil if they have no limits together.
    init(_ limits: SlotLimits, waitMax: Duration? = nil, flowFull: Problem? = nil, full: Problem? = nil) {
        slots = Slots(limits)
        self.waitMax = waitMax
        self.flowFull = flowFull ?? full ?? .busy
        self.full = full ?? flowFull ?? .busy
    }

    /// How many calls run and how many wait.
    var load: (busy: Int, waiting: Int) { slots.load }

    /// Runs a call in a slot. Costs about 200 ns and does not suspend while one is free.
    /// - Throws: `flowFull`, `full`, `CancellationError` for a task that was cancelled in line, and what `body` throws.
    func run<Value: Sendable>(for flow: Flow, _ body: () async throws -> Value) async throws -> Value {
        if !slots.enterIfFree(flow) { try await wait(flow) }
        defer { slots.leave(flow) }
        return try await body()
    }

    /// Waits for a slot as `run` does. It is free again when the returned object is released, or before.
    func hold(_ flow: Flow) async throws -> HeldSlot {
        if let slot = slots.holdIfFree(flow) { return slot }
        try await wait(flow)
        return held(flow)
    }

    /// Returns a slot if one is free now.
    func holdIfFree(_ flow: Flow) -> HeldSlot? { slots.holdIfFree(flow) }

    /// Passes a slot of a flow to a job of another one, past the line. The job that had it must not leave.
    func pass(_ flow: Flow, to other: Flow) -> HeldSlot {
        slots.pass(flow, to: other)
        return held(other)
    }

    private func held(_ flow: Flow) -> HeldSlot { HeldSlot { [slots] in slots.leave(flow) } }

    private func wait(_ flow: Flow) async throws {
        waited.add()
        do {
            try await slots.enter(flow, within: waitMax)
        } catch let refusal as SlotRefusal {
            refused.add()
            throw refusal == .flowFull ? flowFull : full
        }
    }
}
