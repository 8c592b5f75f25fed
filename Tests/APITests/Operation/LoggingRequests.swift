// Which requests the log hears of.
import Testing

@testable import API

@Suite("The log of requests")
struct LoggingRequests {
    @Test("has so many lines a second at most, and counts what it left out")
    func budget() {
        var budget = LineBudget()
        let start = ContinuousClock.now
        for index in 0..<RequestLog.lineCountMax { #expect(budget.take(start + .milliseconds(index)) == 0) }
        for _ in 0..<5 { #expect(budget.take(start + .milliseconds(999)) == nil) }
        #expect(budget.take(start + .seconds(1)) == 5)
        #expect(budget.take(start + .seconds(1)) == 0)
    }
}
