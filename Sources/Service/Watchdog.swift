// The upper bounds on how long a node takes to stop.
import Glibc
import Linux

/// The times of a node's stop.
enum StopTimes {
    /// After this time from the signal the process ends in any case.
    static let seconds = 9
    private static let databaseMax = Duration.milliseconds(8_500)
    /// Requests have 3 s of it, and what the components are sending has 2 s.
    private static let afterPolls = Duration.seconds(5)

    /// Returns when the statements of a stopping node fail. Connections without an answer and a server that is down
    /// would hold each statement for 5 to 20 s, and the stop waits for several, one after another.
    /// - Parameters:
    ///   - signalled: when the signal arrived.
    ///   - drained: when the waiting polls were answered.
    static func databaseEnd(
        signalled: ContinuousClock.Instant, drained: ContinuousClock.Instant
    ) -> ContinuousClock.Instant {
        min(drained + afterPolls, signalled + databaseMax)
    }
}

/// Ends the process when its orderly stop takes too long, for example because a name look-up hangs. It leaves what a
/// crash would leave, and a crash loses nothing.
enum Watchdog {
    static func start() {
        // Without a thread nothing bounds the stop but the supervisor's own limit.
        try? startThread("watchdog") {
            sleep(UInt32(StopTimes.seconds))
            StandardError.write("parley: stopping took too long; leaving.\n")
            _exit(0)
        }
    }
}
