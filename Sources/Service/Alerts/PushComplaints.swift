// What is logged of alerts: the same thing once a minute, however many it happens to. Never tokens, names or texts.
import Domain
import Logging
import Synchronization

final class PushComplaints: Sendable {
    private static let interval = Duration.seconds(60)
    private static let kindCountMax = 100

    private let platform: PushPlatform
    private let logger: Logger
    private let saidAt = Mutex<[String: ContinuousClock.Instant]>([:])

    init(_ platform: PushPlatform, _ logger: Logger) {
        self.platform = platform
        self.logger = logger
    }

    func note(_ message: Logger.Message, _ reason: String) { log(.info, message, reason) }
    func say(_ message: Logger.Message, _ reason: String) { log(.warning, message, reason) }

    /// Somebody has to do something.
    func alarm(_ reason: String) { log(.error, "no alerts are sent until the settings are put right", reason) }

    private func log(_ level: Logger.Level, _ message: Logger.Message, _ reason: String) {
        let isNew = saidAt.withLock { saidAt in
            let (kind, now) = ("\(message) \(reason)", ContinuousClock.now)
            if let last = saidAt[kind], now - last < Self.interval { return false }
            if saidAt.count >= Self.kindCountMax { saidAt = [:] }
            saidAt[kind] = now
            return true
        }
        guard isNew else { return }
        logger.log(level: level, message, metadata: ["platform": "\(platform.rawValue)", "reason": "\(reason)"])
    }
}
