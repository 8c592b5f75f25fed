// Which requests are logged.
import Testing

@testable import API

@Suite("The request log", .timeLimit(.minutes(1)))
struct LoggingRequests {
    @Test("is limited in lines a second, and counts dropped lines")
    func budget() {
        var budget = LineBudget()
        let start = ContinuousClock.now
        for index in 0..<RequestLog.lineCountMax { #expect(budget.take(start + .milliseconds(index)) == 0) }
        for _ in 0..<5 { #expect(budget.take(start + .milliseconds(999)) == nil) }
        #expect(budget.take(start + .seconds(1)) == 5)
        #expect(budget.take(start + .seconds(1)) == 0)
    }
}
