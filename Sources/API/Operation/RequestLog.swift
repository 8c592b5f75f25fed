// Logs requests: internal errors, slow requests, and all requests at level debug.
import Logging
import Synchronization
import Transport

/// Logs one line for a request, with its number and operation, and without its path, because a path contains ids.
package final class RequestLog: Sendable {
    /// The maximum of lines a second, so that an outage does not fill the disk. The next line counts the lines left
    /// out.
    static let lineCountMax = 20

    private let logger: Logger
    private let slow: Duration?
    private let logsAll: Bool
    private let budget = Mutex(LineBudget())

    /// - Parameter slow: requests that take at least this long are logged. Nil logs no request as slow.
    package init(logger: Logger, slow: Duration?) {
        self.logger = logger
        self.slow = slow
        logsAll = logger.logLevel <= .debug
    }

    /// Costs two comparisons for a request that is not logged.
    func record(_ request: EndedRequest) {
        if request.status >= 500 || isSlow(request) {
            let now = ContinuousClock.now
            guard let leftOut = budget.withLock({ $0.take(now) }) else { return }
            write(request, .warning, leftOut: leftOut)
        } else if logsAll {
            write(request, .debug, leftOut: 0)
        }
    }

    private func isSlow(_ request: EndedRequest) -> Bool {
        guard let slow, let took = request.took else { return false }
        return took >= slow
    }

    private func write(_ request: EndedRequest, _ level: Logger.Level, leftOut: Int) {
        var metadata: Logger.Metadata = [
            "request": "\(request.number.text)", "status": "\(request.status)",
            "operation": "\(OperationID(rawValue: request.operation) ?? .none)",
        ]
        if let took = request.took { metadata["took_ms"] = "\((took / .microseconds(1)).rounded() / 1000)" }
        if leftOut > 0 { metadata["left_out"] = "\(leftOut)" }
        logger.log(level: level, "request answered", metadata: metadata)
    }
}

/// The number of lines that may still be written in this second.
struct LineBudget {
    private var second: ContinuousClock.Instant?
    private var lineCount = 0
    private var leftOut = 0

    /// Returns nil if the line must be left out, or else the number of lines left out since the last one.
    mutating func take(_ now: ContinuousClock.Instant) -> Int? {
        if second.map({ now - $0 >= .seconds(1) }) ?? true {
            second = now
            lineCount = 0
        }
        guard lineCount < RequestLog.lineCountMax else {
            leftOut += 1
            return nil
        }
        lineCount += 1
        defer { leftOut = 0 }
        return leftOut
    }
}
