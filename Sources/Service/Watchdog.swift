// The upper bound on how long a node takes to stop.
import Glibc
import Linux

/// Ends the process when its orderly stop takes too long, for example because the database hangs. It leaves what a
/// crash would leave, and a crash loses nothing.
enum Watchdog {
    static func start(seconds: Int) {
        // Without a thread nothing bounds the stop but the supervisor's own limit.
        try? startThread("watchdog") {
            sleep(UInt32(seconds))
            StandardError.write("parley: stopping took too long; leaving.\n")
            _exit(0)
        }
    }
}
