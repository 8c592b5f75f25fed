// How many searches run at once, for an account and in total: bounded, fair, and every place is freed.
import Domain
import Synchronization
import TestSupport
import Testing

@testable import API

@Suite("Search limits", .timeLimit(.minutes(1)))
struct SearchLimits {
    enum End: CaseIterable, Sendable { case done, failed }

    /// Searches that the test ends.
    private final class Stage: Sendable {
        struct Failed: Error {}

        private let state = Mutex((running: [CheckedContinuation<Bool, Never>](), most: 0))

        var runningCount: Int { state.withLock { $0.running.count } }
        var mostCount: Int { state.withLock { $0.most } }

        func search() async throws {
            let isGood = await withCheckedContinuation { continuation in
                state.withLock { state in
                    state.running.append(continuation)
                    state.most = max(state.most, state.running.count)
                }
            }
            try Task.checkCancellation()
            if !isGood { throw Failed() }
        }

        func endFirst(isGood: Bool = true) {
            state.withLock { $0.running.isEmpty ? nil : $0.running.removeFirst() }?.resume(returning: isGood)
        }

        func waitUntil(running count: Int) async throws {
            try await eventually("\(count) running searches") { runningCount == count }
        }
    }

    /// The notes that searches leave, in order.
    private final class Notes<Note: Sendable>: Sendable {
        private let notes = Mutex([Note]())
        var all: [Note] { notes.withLock { $0 } }

        func add(_ note: Note) { notes.withLock { $0.append(note) } }
    }

    private let ann = UserID.make()
    private let ben = UserID.make()

    private func search(by user: UserID, _ slots: CallSlots<UserID>, _ stage: Stage) -> Task<Void, any Error> {
        Task { try await slots.run(for: user) { try await stage.search() } }
    }

    @Test(
        "allow two of an account at once, the next when one ends or fails", arguments: End.allCases)
    func bounded(_ end: End) async throws {
        let slots = CallSlots.searches(accountCountMax: 2)
        let stage = Stage()
        let searches = (0..<6).map { _ in search(by: ann, slots, stage) }
        try await stage.waitUntil(running: 2)
        for left in stride(from: 5, through: 0, by: -1) {
            stage.endFirst(isGood: end != .failed)
            try await stage.waitUntil(running: min(left, 2))
        }
        var doneCount = 0
        for search in searches { if case .success = await search.result { doneCount += 1 } }
        #expect(doneCount == (end == .done ? 6 : 0))
        #expect(stage.mostCount == 2)
        // All slots are free again.
        let others = [ann, ann, ben].map { search(by: $0, slots, stage) }
        try await stage.waitUntil(running: 3)
        for _ in others { stage.endFirst() }
        for other in others { try await other.value }
    }

    @Test("free the place of a search cancelled in the queue, and the slot of a search cancelled while it runs")
    func cancelled() async throws {
        let slots = CallSlots.searches(accountCountMax: 1)
        let stage = Stage()
        let running = search(by: ann, slots, stage)
        try await stage.waitUntil(running: 1)
        let line = (0..<CallSlots.accountWaitingSearchCountMax).map { _ in search(by: ann, slots, stage) }
        try await eventually("a full queue") { slots.load.waiting == line.count }
        await #expect(throws: Problem.self) { try await search(by: ann, slots, stage).value }
        for search in line { search.cancel() }
        for search in line { await #expect(throws: CancellationError.self) { try await search.value } }
        let next = search(by: ann, slots, stage)
        running.cancel()
        stage.endFirst()
        await #expect(throws: CancellationError.self) { try await running.value }
        try await stage.waitUntil(running: 1)
        stage.endFirst()
        try await next.value
        #expect(stage.mostCount == 1)
    }

    @Test("let four more of an account wait, refuse the next, and do not delay another account")
    func refusesBeyondTheLine() async throws {
        let slots = CallSlots.searches(accountCountMax: 2)
        let stage = Stage()
        let searches = (0..<2).map { _ in search(by: ann, slots, stage) }
        try await stage.waitUntil(running: 2)
        let waiting = (0..<20).map { _ in search(by: ann, slots, stage) }
        let refusals = Notes<Problem>()
        let outcomes = waiting.map { search in
            Task {
                do {
                    try await search.value
                } catch let problem as Problem {
                    refusals.add(problem)
                }
            }
        }
        try await eventually("16 refusals") { refusals.all.count == 16 }
        // An account that has two places does not get the third.
        let other = search(by: ben, slots, stage)
        try await stage.waitUntil(running: 3)
        #expect(stage.mostCount == 3)
        for left in stride(from: 6, through: 0, by: -1) {
            stage.endFirst()
            try await stage.waitUntil(running: min(left, left >= 5 ? 3 : 2))
        }
        for outcome in outcomes { try await outcome.value }
        #expect(refusals.all.count == 16)
        #expect(refusals.all.allSatisfy { $0.code == .rateLimited && $0.retryAfterS == 1 })
        for search in searches + [other] { try await search.value }
    }

    @Test("serve accounts in turn: one search of each before the second of any")
    func takesTurns() async throws {
        let slots = CallSlots.searches(accountCountMax: 1)
        let stage = Stage()
        let order = Notes<String>()
        let holders = [UserID.make(), .make()].map { search(by: $0, slots, stage) }
        try await stage.waitUntil(running: 2)
        var searches: [Task<Void, any Error>] = []
        let line = [("a1", ann), ("a2", ann), ("a3", ann), ("b1", ben), ("b2", ben)]
        for (index, (name, user)) in line.enumerated() {
            searches.append(
                Task {
                    try await slots.run(for: user) {
                        order.add(name)
                        try await stage.search()
                    }
                })
            // Each joins the queue before the next.
            try await eventually("\(name) in the queue") { slots.load.waiting == index + 1 }
        }
        for ended in 1...7 {
            stage.endFirst()
            try await stage.waitUntil(running: min(2, 7 - ended))
        }
        for search in holders + searches { try await search.value }
        #expect(order.all == ["a1", "b1", "a2", "b2", "a3"])
    }
}
