// The loop of all background workers.
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import Workers

@Suite("A worker", .timeLimit(.minutes(1)))
struct WorkerTests {
    private struct Fault: Error, CustomStringConvertible {
        var description = "the database is away"
    }

    private let lines = LogLines()

    private func worker(retryAfter: Duration = .milliseconds(1)) -> Worker {
        Worker("counting sheep", every: .milliseconds(1), retryAfter: retryAfter, logger: lines.logger)
    }

    /// Runs steps until one throws `CancellationError`: the worker is cancelled in it. Returns how many there were.
    private func run(_ worker: Worker, _ step: @escaping @Sendable (Int) throws -> Worker.Progress) async -> Int {
        let steps = Counter()
        let task = Task {
            try await worker.run {
                steps.add()
                do {
                    return try step(steps.value)
                } catch is CancellationError {
                    withUnsafeCurrentTask { $0?.cancel() }
                    throw CancellationError()
                }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        return steps.value
    }

    @Test("continues while there is more to do, when there is nothing to do, and after a pause")
    func repeats() async {
        let count = await run(worker()) { number in
            if number == 4 { throw CancellationError() }
            return [.more, .idle, .pause(.milliseconds(1))][number - 1]
        }
        #expect(count == 4)
        #expect(lines.all.isEmpty)
    }

    @Test("retries what fails, counts each failure, and logs the same reason once")
    func retries() async {
        let worker = worker()
        let count = await run(worker) { number in
            if number == 21 { throw CancellationError() }
            throw Fault()
        }
        #expect(count == 21)
        #expect(worker.failures.value == 20)
        #expect(lines.all.count == 1, "\(lines.all)")
        #expect(lines.all[0].contains("counting sheep failed; retrying in 1 ms"))
        #expect(lines.all[0].contains("the database is away"))
    }

    @Test("logs each different reason")
    func reasons() async {
        let worker = worker()
        _ = await run(worker) { number in
            if number == 5 { throw CancellationError() }
            throw Fault(description: number % 2 == 0 ? "even" : "odd")
        }
        #expect(worker.failures.value == 4)
        #expect(lines.all.count == 2, "\(lines.all)")
    }

    @Test("waits before it retries")
    func waits() async {
        let clock = ContinuousClock()
        let took = await clock.measure {
            _ = await run(worker(retryAfter: .milliseconds(50))) { number in
                if number == 3 { throw CancellationError() }
                throw Fault()
            }
        }
        #expect(took >= .milliseconds(100))
    }

    @Test("ends when cancelled without counting or logging a failure, whatever the interrupted call throws")
    func cancellation() async throws {
        let worker = worker()
        let hasBegun = Atomic(false)
        let task = Task {
            try await worker.run {
                hasBegun.store(true, ordering: .releasing)
                do {
                    try await Task.sleep(for: .seconds(60))
                } catch {
                    throw Fault()
                }
                return .idle
            }
        }
        try await eventually("the call begins") { hasBegun.load(ordering: .acquiring) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(worker.failures.value == 0)
        #expect(lines.all.isEmpty)
    }

    @Test("continues when a call throws CancellationError although nobody cancelled the worker")
    func foreignCancellation() async throws {
        let worker = worker()
        let failed: Int? = try await worker.attempt { throw CancellationError() }
        #expect(failed == nil)
        #expect(worker.failures.value == 1)
    }

    @Test("retries a call until it succeeds, and returns its value")
    func retry() async throws {
        let worker = worker()
        var count = 0
        let value = try await worker.retry {
            count += 1
            if count < 4 { throw Fault() }
            return "done"
        }
        #expect(value == "done")
        #expect(worker.failures.value == 3)
    }

    @Test("attempts a call once, and returns nil when it failed")
    func attempt() async throws {
        let worker = worker()
        #expect(try await worker.attempt { 1 } == 1)
        let failed: Int? = try await worker.attempt { throw Fault() }
        #expect(failed == nil)
        #expect(worker.failures.value == 1)
    }

    @Test("shows its failures by its name, with those of the other components")
    func metrics() {
        let (one, two) = (Counter(), Counter())
        one.add(2)
        two.add()
        let components = [
            Component("mail", failures: [one]), Component("alerts", failures: [one, two]), Component("hub"),
        ]
        var text = MetricsText()
        components.writeMetrics(to: &text)
        let samples = text.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(
            samples == [
                #"parley_worker_failures_total{worker="mail"} 2"#, #"parley_worker_failures_total{worker="alerts"} 3"#,
            ])
    }
}
