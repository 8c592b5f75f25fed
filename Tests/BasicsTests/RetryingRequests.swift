// When a failed request is repeated. The test sets the chance.
import Basics
import Testing

@Suite("Retrying failed requests", .timeLimit(.minutes(1)))
struct RetryingRequests {
    @Test("waits twice as long after each try, up to the cap, and longer by chance")
    func doubling() {
        let retries = Retries(first: .seconds(2), cap: .seconds(60))
        let waits = [1, 2, 3, 4, 5, 6, 7, 1_000].map { retries.wait(afterTry: $0, random: 0) }
        #expect(waits == [2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
        #expect(retries.wait(afterTry: 1, random: 0.5) == .seconds(3))
        #expect(retries.wait(afterTry: 9, random: 1) == .seconds(120))
        #expect(retries.tryCountMax == nil && retries.longest == .seconds(60))
    }

    @Test("follows a list of waits, and ends with it")
    func list() {
        let retries = Retries([.seconds(1), .seconds(5)])
        #expect((1...3).map { retries.wait(afterTry: $0, random: 1) } == [.seconds(1), .seconds(5), nil])
        #expect(retries.tryCountMax == 3 && retries.longest == .seconds(5))
        #expect(Retries([]).wait(afterTry: 1, random: 0) == nil)
    }

    @Test("never waits less than the receiver asked for; its bound is the longest time that can be asked for")
    func asked() {
        let retries = Retries([.seconds(10)], jitter: -0.1...0.1, longestAsked: .seconds(60))
        func wait(_ asked: Int, _ random: Double) -> Duration? {
            retries.wait(afterTry: 1, asked: .seconds(asked), random: random)
        }
        #expect(wait(1, 0) == .seconds(9) && wait(30, 0) == .seconds(30) && wait(30, 1) == .seconds(31))
        #expect(wait(600, 0.5) == .seconds(60))
    }
}
