// How many requests of each operation were answered how, and how long that took: for /metrics.
import Telemetry
import Transport

/// Counts requests by operation and class of status. From any thread; about 40 ns a request.
package final class RequestMetrics: Sendable {
    private static let classes = ["2xx", "3xx", "4xx", "5xx"]
    /// Of the classes of the first operation, then of those of the next.
    private let answered: [Counter]
    /// Without those that had to wait for something to happen.
    private let took: [Histogram]

    package init() {
        let lines = 0..<OperationID.allCases.count * Self.classes.count
        answered = lines.map { _ in Counter() }
        took = lines.map { _ in Histogram(.seconds) }
    }

    func record(_ request: EndedRequest) {
        let status = min(max(request.status / 100 - 2, 0), Self.classes.count - 1)
        let line = Int(request.operation) * Self.classes.count + status
        answered[line].add()
        if let duration = request.took { took[line].record(duration) }
    }

    /// An operation and class shows from its first request on: most never come together.
    package func write(to text: inout MetricsText) {
        text.counter(
            "parley_http_requests_total",
            "Answered requests, by operation (operationId in openapi.yaml) and class of status.",
            answered.enumerated().filter { $1.value > 0 }.map { (Self.labels($0), $1.value) })
        text.histogram(
            "parley_http_request_seconds", "Time from a complete request to its answer, without polls that waited.",
            took.map(\.values).enumerated().filter { $1.count > 0 }.map { (Self.labels($0), $1) })
    }

    private static func labels(_ line: Int) -> MetricsText.Labels {
        let (operation, status) = line.quotientAndRemainder(dividingBy: classes.count)
        return [("operation", "\(OperationID.allCases[operation])"), ("status", classes[status])]
    }
}
