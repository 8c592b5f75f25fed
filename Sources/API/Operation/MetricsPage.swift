// /metrics: as a route of the API, or by a listener of its own that has nothing else.
import Domain
import HTTPTypes
import Logging
import NIOCore
import Telemetry
import Transport

/// Access to the metrics at the address of the API.
package enum MetricsAccess: Sendable {
    case open
    /// The admin token is needed; without one configured, the path does not exist.
    case admin
    /// The path does not exist: a listener of its own serves the metrics.
    case elsewhere
}

struct MetricsPage: Sendable {
    static let path = "/metrics"

    private let metrics: @Sendable () -> MetricsText

    init(_ metrics: @escaping @Sendable () -> MetricsText) { self.metrics = metrics }

    /// Off the event loop, which has others to serve meanwhile.
    func answer() async -> Answer {
        let metrics = metrics
        let text = await withTaskExecutorPreference(globalConcurrentExecutor) { metrics().text }
        return Answer(
            status: .ok, headers: Headers.of(type: MetricsText.contentType), body: ByteBuffer(string: text))
    }
}

/// Serves `/metrics` and nothing else, without a token: for a listener of its own.
package struct MetricsHandler: RequestHandler {
    private let page: MetricsPage

    /// - Parameter metrics: the node's figures; may block for milliseconds.
    package init(_ metrics: @escaping @Sendable () -> MetricsText) { page = MetricsPage(metrics) }

    package func decide(_ head: InboundRequest) -> BodyDecision {
        .answer(refusal(of: head) ?? ProblemDocument.response(.bodyTooLarge))
    }

    package func handle(_ request: InboundRequest, _ reply: Reply) {
        if let refusal = refusal(of: request) { return reply.send(refusal) }
        // A callback has no task to be a child of; this one ends with the answer.
        Task { reply.send(await page.answer().outbound) }
    }

    private func refusal(of request: InboundRequest) -> OutboundResponse? {
        guard request.path.utf8.elementsEqual(MetricsPage.path.utf8) else {
            return ProblemDocument.response(.nothingHere)
        }
        guard request.method == .get || request.method == .head else {
            return Answer.methodNotAllowed(request.method, [.get, .head]).outbound
        }
        return nil
    }

    package func problem(for failure: TransportFailure, _ number: RequestNumber) -> OutboundResponse {
        ProblemDocument.response(Problem(failure))
    }

    package func ended(_ request: EndedRequest) {}
}
