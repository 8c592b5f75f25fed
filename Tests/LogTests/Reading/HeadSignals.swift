// Waiting for more of the log without a mailbox.
import Synchronization
import TestSupport
import Testing

@testable import Log

@Suite("Waiting for the log's head", .timeLimit(.minutes(1)))
struct HeadSignals {
    /// Longer than a test may take: a wait that does not end earlier fails its test by the time limit.
    private static let long = Duration.seconds(86_400)

    /// Waits on a task of its own. Returns once the wait may have begun.
    private func waiting(_ signal: HeadSignal, for duration: Duration = long) async throws -> Task<Duration, Never> {
        let began = SharedFlag()
        let task = Task {
            let clock = ContinuousClock()
            let start = clock.now
            await signal.wait(for: duration) {
                began.set()
                return false
            }
            return clock.now - start
        }
        try await eventually("the wait begins") { began.isSet }
        return task
    }

    @Test("ends with a signal, for all who wait")
    func signals() async throws {
        let signal = HeadSignal()
        var tasks: [Task<Duration, Never>] = []
        for _ in 0..<20 { tasks.append(try await waiting(signal)) }
        signal.signal()
        for task in tasks { _ = await task.value }
        // A signal of the past wakes nobody.
        let later = try await waiting(signal, for: .milliseconds(50))
        #expect(await later.value >= .milliseconds(50))
    }

    @Test("does not begin when the head has moved before")
    func moved() async {
        await HeadSignal().wait(for: Self.long) { true }
        await HeadSignal().wait(for: .zero) { false }
    }

    @Test("ends with the task, and with the node, after which nothing waits")
    func ends() async throws {
        let signal = HeadSignal()
        let cancelled = try await waiting(signal)
        cancelled.cancel()
        _ = await cancelled.value
        let closed = try await waiting(signal)
        signal.close()
        _ = await closed.value
        #expect(signal.isClosed)
        await signal.wait(for: Self.long) { false }
    }

    @Test("misses no signal between the look at the head and the wait")
    func race() async {
        let signal = HeadSignal()
        let head = SharedFlag()
        for _ in 0..<2_000 {
            head.reset()
            async let wait: Void = signal.wait(for: Self.long) { head.isSet }
            head.set()
            signal.signal()
            await wait
        }
    }
}

/// A flag that closures share.
private final class SharedFlag: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .sequentiallyConsistent) }
    func set() { flag.store(true, ordering: .sequentiallyConsistent) }
    func reset() { flag.store(false, ordering: .sequentiallyConsistent) }
}
