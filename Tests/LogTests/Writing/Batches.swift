// A stream of batched calls against a database that is down.
import Domain
import Store
import Synchronization
import TestSupport
import Testing

@testable import Log

@Suite("Batches", .timeLimit(.minutes(1)))
struct Batches {
    private typealias Numbers = Batcher<Int, Int, Int>

    @Test("while the database is down, no waiting item waits for the calls of the others")
    func away() async throws {
        let queuedMax = Duration.milliseconds(100)
        let begun = Mutex<Set<Int>>([])
        let deadline = Mutex<ContinuousClock.Instant?>(nil)
        let first = Mutex<Store.BatchDone?>(nil)
        let answers = AsyncStream.makeStream(of: (item: Int, code: ProblemCode?).self)
        let failure = Store.BatchFailure.retryable(Problem(.unavailable, "away"))
        let batcher = Numbers(
            queuedMax: queuedMax, logger: .quiet,
            call: .init(
                begin: { items, last, done in
                    deadline.withLock { $0 = last }
                    begun.withLock { $0.formUnion(items) }
                    if items == [0] { first.withLock { $0 = done } } else { done(.failure(failure)) }
                },
                read: { _, items throws(Store.BatchFailure) in items }),
            answer: { outcomes in
                for (item, outcome) in outcomes {
                    let code: ProblemCode? = if case .failure(let problem) = outcome { problem.code } else { nil }
                    answers.continuation.yield((item, code))
                }
            })
        for item in 0..<1_000 { batcher.submit(item, byteCount: 1, waiter: item) }
        // All have then waited for their longest time. A longer sleep changes nothing.
        try await Task.sleep(for: queuedMax)
        first.withLock { $0 }?(.failure(failure))
        var codes: [Int: ProblemCode] = [:]
        for await (item, code) in answers.stream {
            #expect(codes[item] == nil, "\(item) is answered twice")
            codes[item] = code
            if codes.count == 1_000 { break }
        }
        // The first is sent alone and at once; when it ends, the others have waited for the longest time.
        #expect(begun.withLock { $0 } == [0])
        #expect(codes[0] == .unavailable)
        #expect((1..<1_000).allSatisfy { codes[$0] == .overloaded })
        #expect(batcher.metrics.refusals.value == 999)
        #expect(batcher.queuedCount == 0)

        // A later item has its own time, and the database may use all of it.
        let before = ContinuousClock.now
        batcher.submit(1_000, byteCount: 1, waiter: 1_000)
        let waits = try #require(deadline.withLock { $0 })
        #expect(waits >= before + queuedMax && waits <= .now + queuedMax)
        for await (item, code) in answers.stream {
            #expect(item == 1_000 && code == .unavailable)
            break
        }
        #expect(begun.withLock { $0 } == [0, 1_000])
    }
}
