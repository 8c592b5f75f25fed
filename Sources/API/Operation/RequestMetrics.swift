// Counts requests and measures their duration, by operation and status, for /metrics.
import Telemetry
import Transport

/// Counts requests by operation and class of status. From any thread. Costs about 40 ns a request.
package final class RequestMetrics: Sendable {
    private static let classes = ["2xx", "3xx", "4xx", "5xx"]
    /// The classes of the first operation, then those of the next.
    private let answered: [Counter]
    /// The durations of requests, except those that waited for an event.
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

    /// An operation and class appear with their first request. Most combinations never occur.
    package func write(to text: inout MetricsText) {
        text.counter(
            "parley_http_requests_total",
            "Answered requests, by `operation` (operationId in docs/openapi.yaml) and class of `status`.",
            answered.enumerated().filter { $1.value > 0 }.map { (Self.labels($0), $1.value) })
        text.histogram(
            "parley_http_request_seconds",
            "Time from a complete request to its answer, or to the head of a streamed answer, by `operation` and `status`. "
                + "Polls that waited are not counted.",
            took.map(\.values).enumerated().filter { $1.count > 0 }.map { (Self.labels($0), $1) })
    }

    private static func labels(_ line: Int) -> MetricsText.Labels {
        let (operation, status) = line.quotientAndRemainder(dividingBy: classes.count)
        return [("operation", "\(OperationID.allCases[operation])"), ("status", classes[status])]
    }
}
