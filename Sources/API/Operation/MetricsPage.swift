// /metrics: a route of the API, or the only path of a separate listener.
import Domain
import HTTPTypes
import Logging
import NIOCore
import Telemetry
import Transport
import Workers

/// The callers that may read the metrics at the address of the API.
package enum MetricsAccess: Sendable {
    case open
    /// Callers with an admin token, or with a key that has the scope `metrics`. Without a configured token the path does
    /// not exist for callers without a key.
    case admin
    /// No caller: a separate listener serves the metrics.
    case elsewhere
}

/// The node's metrics, each written by the component that counts it.
package struct MetricsPage: Sendable {
    static let path = "/metrics"

    private let components: [Component]

    init(_ components: [Component]) { self.components = components }

    /// Reads /proc, among others: may block for milliseconds.
    private var text: String {
        var text = MetricsText()
        components.writeMetrics(to: &text)
        return text.text
    }

    /// This does not run on the event loop, because rendering blocks other requests.
    func answer() async -> Answer {
        let rendered = await withTaskExecutorPreference(globalConcurrentExecutor) { text }
        return Answer(
            status: .ok, headers: Headers.of(type: MetricsText.contentType), body: ByteBuffer(string: rendered))
    }
}

/// Serves only `/metrics`, without a token, on a separate listener.
package struct MetricsHandler: RequestHandler {
    private let page: MetricsPage

    package init(_ page: MetricsPage) { self.page = page }

    package func decide(_ head: InboundRequest) -> BodyDecision {
        .answer(refusal(of: head) ?? ProblemDocument.response(.bodyTooLarge))
    }

    package func handle(_ request: InboundRequest, _ reply: Reply) {
        if let refusal = refusal(of: request) { return reply.send(refusal) }
        reply.run { [page] in reply.send(await page.answer().outbound) }
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
