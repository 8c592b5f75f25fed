// What the node's own workers have in common.
import Log
import Logging
import Telemetry

/// Works a part at a time until it is cancelled: on and on while there is something to do, and else with the beat. What
/// fails is tried again two seconds later.
struct Upkeep: Sendable {
    /// Between looks whether there is something to do.
    let interval: Duration
    /// What is said when it fails: "erasing has to wait".
    let complaint: Logger.Message
    let failures: Counter
    let logger: Logger

    /// - Parameter part: does something, and says whether there was anything to do.
    func run(_ part: () async throws -> Bool) async throws {
        while true {
            do {
                if try await !part() { try await Ticker.sleep(interval) }
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                failures.add()
                logger.warning(complaint, metadata: ["reason": "\(error)"])
                try await Task.sleep(for: .seconds(2))
            }
        }
    }
}
