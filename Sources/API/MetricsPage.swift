// /metrics: as a route of the API, or by a listener of its own that has nothing else.
import Domain
import HTTPTypes
import Logging
import NIOCore
import Telemetry
import Transport

/// Who may read the figures where the API is served.
package enum MetricsAccess: Sendable {
    case open
    /// By the admin's token; without one configured there is no such path.
    case admin
    /// Nobody: they are served by a listener of their own.
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

/// What a listener for scrapers serves: `/metrics`, to whoever reaches it.
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
