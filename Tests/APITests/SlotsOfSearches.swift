// How many searches run at once: bounded, and every slot comes back.
import Domain
import Synchronization
import Testing

@testable import API

@Suite("Slots of searches")
struct SlotsOfSearches {
    enum End: CaseIterable, Sendable { case done, failed, cancelled }

    /// Searches that end when they are told to.
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
            for _ in 0..<5_000 where runningCount != count { try await Task.sleep(for: .milliseconds(1)) }
            try #require(runningCount == count)
        }
    }

    private final class Counts: Sendable {
        let refused = Atomic(0)
        let ended = Atomic(0)
    }

    @Test("two at a time, the next when one is done, has failed or was cancelled", arguments: End.allCases)
    func bounded(_ end: End) async throws {
        let slots = SearchSlots(count: 2)
        let stage = Stage()
        let searches = (0..<6).map { _ in Task { try await slots.run { try await stage.search() } } }
        try await stage.waitUntil(running: 2)
        if end == .cancelled { for search in searches { search.cancel() } }
        for left in stride(from: 5, through: 0, by: -1) {
            stage.endFirst(isGood: end != .failed)
            try await stage.waitUntil(running: min(left, 2))
        }
        var doneCount = 0
        for search in searches { if case .success = await search.result { doneCount += 1 } }
        #expect(doneCount == (end == .done ? 6 : 0))
        #expect(stage.mostCount == 2)
        // Both slots are free again.
        let others = (0..<2).map { _ in Task { try await slots.run { try await stage.search() } } }
        try await stage.waitUntil(running: 2)
        for _ in others { stage.endFirst() }
        for other in others { try await other.value }
    }

    @Test("up to 64 wait in line; who finds it full is told to come back")
    func refusesBeyondTheLine() async throws {
        let slots = SearchSlots(count: 1)
        let stage = Stage()
        let counts = Counts()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<80 {
                group.addTask {
                    defer { counts.ended.add(1, ordering: .relaxed) }
                    do {
                        try await slots.run { try await stage.search() }
                    } catch let problem as Problem where problem.code == .overloaded && problem.retryAfterS == 2 {
                        counts.refused.add(1, ordering: .relaxed)
                    }
                }
            }
            // One runs, 64 wait, nobody has ended.
            for _ in 0..<5_000 where counts.refused.load(ordering: .relaxed) < 15 {
                try await Task.sleep(for: .milliseconds(1))
            }
            #expect(counts.refused.load(ordering: .relaxed) == 15)
            for _ in 0..<5_000 where counts.ended.load(ordering: .relaxed) < 80 {
                stage.endFirst()
                try await Task.sleep(for: .milliseconds(1))
            }
            while try await group.next() != nil {}
        }
        #expect(counts.refused.load(ordering: .relaxed) == 15)
        #expect(stage.mostCount == 1)
        try await slots.run {}
    }
}
