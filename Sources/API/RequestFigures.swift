// How many requests of each operation were answered how, and how long that took: for /metrics.
import Telemetry
import Transport

/// Counts requests by operation and class of status. From any thread; about 40 ns a request.
package final class RequestFigures: Sendable {
    private struct Line: Sendable {
        let operation: OperationID
        let status: String
        let answered = Counter()
        /// Without those that had to wait for something to happen.
        let took = Histogram(.seconds)
    }

    private static let classes = ["2xx", "3xx", "4xx", "5xx"]
    /// The classes of the first operation, then those of the next.
    private let lines: [Line]

    package init() {
        lines = OperationID.allCases.flatMap { operation in
            Self.classes.map { Line(operation: operation, status: $0) }
        }
    }

    func record(_ request: EndedRequest) {
        let status = min(max(request.status / 100 - 2, 0), Self.classes.count - 1)
        let line = lines[Int(request.operation) * Self.classes.count + status]
        line.answered.add()
        if let took = request.took { line.took.record(took) }
    }

    /// An operation and class shows from its first request on: most never come together.
    package func write(to text: inout MetricsText) {
        let used = lines.filter { $0.answered.value > 0 }
        text.counter(
            "parley_http_requests_total", "Answered requests, by operation (as in openapi.yaml) and class of status.",
            used.map { (Self.labels($0), $0.answered.value) })
        text.histogram(
            "parley_http_request_seconds", "From a whole request to its answer; polls that had to wait aren't in it.",
            used.filter { $0.took.values.count > 0 }.map { (Self.labels($0), $0.took.values) })
    }

    private static func labels(_ line: Line) -> MetricsText.Labels {
        [("operation", "\(line.operation)"), ("status", line.status)]
    }
}
