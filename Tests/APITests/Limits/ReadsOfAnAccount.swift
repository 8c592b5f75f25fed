// How many reads of one account run at once: which wait, which are refused, and that no place is ever lost. Without HTTP.
import Domain
import Synchronization
import TestSupport
import Testing

@testable import API

@Suite("Concurrent reads of an account", .timeLimit(.minutes(1)))
struct ReadsOfAnAccount {
    /// Reads that the test ends.
    private final class Stage: Sendable {
        private struct State {
            var running: [CheckedContinuation<Void, Never>] = []
            var mostRunning = 0
        }
        private let state = Mutex(State())

        func read() async {
            await withCheckedContinuation { continuation in
                state.withLock {
                    $0.running.append(continuation)
                    $0.mostRunning = max($0.mostRunning, $0.running.count)
                }
            }
        }

        var runningCount: Int { state.withLock { $0.running.count } }
        var mostRunning: Int { state.withLock { $0.mostRunning } }

        func waitUntilRunning(_ count: Int) async throws {
            try await eventually("\(count) running reads") { runningCount == count }
        }

        func endOne() { state.withLock { $0.running.removeFirst() }.resume() }
    }

    private final class Running: Sendable {
        let count = Atomic(0)
    }

    private let stage = Stage()
    private let ann = UserID.make()

    private func isRefusal(_ error: any Error) -> Bool {
        guard let problem = error as? Problem else { return false }
        return problem.code == .rateLimited && problem.retryAfterS == 1 && problem.limit == nil
    }

    @Test("run up to the limit, and the next starts as each ends")
    func bound() async throws {
        let reads = CallSlots.reads(accountCountMax: 3, waitMax: .seconds(60))
        let tasks = (0..<10).map { _ in Task { try await reads.run(for: ann) { await stage.read() } } }
        for _ in 0..<7 {
            try await stage.waitUntilRunning(3)
            stage.endOne()
        }
        try await stage.waitUntilRunning(3)
        for _ in 0..<3 { stage.endOne() }
        for task in tasks { try await task.value }
        #expect(stage.mostRunning == 3)
    }

    @Test("do not delay reads of other accounts")
    func others() async throws {
        let reads = CallSlots.reads(accountCountMax: 1, waitMax: .seconds(60))
        let task = Task { try await reads.run(for: ann) { await stage.read() } }
        try await stage.waitUntilRunning(1)
        #expect(try await reads.run(for: UserID.make()) { 7 } == 7)
        stage.endOne()
        try await task.value
    }

    @Test("that waited too long are refused with 429, and the others keep their places")
    func refused() async throws {
        let reads = CallSlots.reads(accountCountMax: 1, waitMax: .milliseconds(50))
        let task = Task { try await reads.run(for: ann) { await stage.read() } }
        try await stage.waitUntilRunning(1)
        await #expect(performing: { try await reads.run(for: ann) {} }, throws: isRefusal)
        stage.endOne()
        try await task.value
        #expect(try await reads.run(for: ann) { 7 } == 7)
    }

    @Test("beyond the queue are refused at once")
    func line() async throws {
        let reads = CallSlots.reads(accountCountMax: 1, waitMax: .seconds(60))
        let tasks = (0..<257).map { _ in Task { try await reads.run(for: ann) { await stage.read() } } }
        try await stage.waitUntilRunning(1)
        try await eventually("a full queue") { reads.load.waiting == 256 }
        // A read that waited instead would wait until the time limit of the test.
        await #expect(performing: { try await reads.run(for: ann) {} }, throws: isRefusal)
        #expect(reads.load.waiting == 256)
        for _ in 0..<257 {
            try await stage.waitUntilRunning(1)
            stage.endOne()
        }
        for task in tasks { try await task.value }
    }

    @Test("leave the queue when their client disconnects, and free their place when they fail")
    func cancelled() async throws {
        struct Failed: Error {}
        let reads = CallSlots.reads(accountCountMax: 1, waitMax: .seconds(60))
        let first = Task { try await reads.run(for: ann) { await stage.read() } }
        try await stage.waitUntilRunning(1)
        let second = Task { try await reads.run(for: ann) { await stage.read() } }
        try await eventually("the second read in the queue") { reads.load.waiting == 1 }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(reads.load.waiting == 0)
        stage.endOne()
        try await first.value
        await #expect(throws: Failed.self) { try await reads.run(for: ann) { throw Failed() } }
        #expect(try await reads.run(for: ann) { 7 } == 7)
    }

    @Test("never lose or gain a place while many arrive, wait, time out and are cancelled")
    func crowd() async throws {
        let reads = CallSlots.reads(accountCountMax: 2, waitMax: .milliseconds(5))
        let running = Running()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                group.addTask {
                    let task = Task {
                        try await reads.run(for: ann) {
                            let now = running.count.add(1, ordering: .relaxed).newValue
                            #expect(now <= 2)
                            try? await Task.sleep(for: .milliseconds(1))
                            running.count.subtract(1, ordering: .relaxed)
                        }
                    }
                    if number % 3 == 0 { task.cancel() }
                    _ = await task.result
                }
            }
            try await group.waitForAll()
        }
        // Both places are free again.
        let tasks = (0..<2).map { _ in Task { try await reads.run(for: ann) { await stage.read() } } }
        try await stage.waitUntilRunning(2)
        for _ in 0..<2 { stage.endOne() }
        for task in tasks { try await task.value }
    }
}
