// When the statements of a stopping node fail.
import Testing

@testable import Service

@Suite("The times of a stop", .timeLimit(.minutes(1)))
struct TimesOfStopping {
    @Test(
        "leave time for the database after the last poll, and for the node after that, for each PARLEY_DRAIN_SECONDS",
        arguments: 0...8)
    func databaseEnd(drainSeconds: Int) {
        let signalled = ContinuousClock.now
        let drained = signalled + .seconds(drainSeconds)
        let end = StopTimes.databaseEnd(signalled: signalled, drained: drained)
        #expect(end >= drained + .milliseconds(500))
        #expect(end <= signalled + .seconds(StopTimes.seconds) - .milliseconds(500))
    }

    @Test("do not use up the limit without need")
    func earlyEnd() {
        let signalled = ContinuousClock.now
        let end = StopTimes.databaseEnd(signalled: signalled, drained: signalled + .seconds(1))
        #expect(end == signalled + .seconds(6))
    }
}
