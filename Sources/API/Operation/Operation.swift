// Calls for operators and app developers: health, metrics, the OpenAPI document.
import Domain
import HTTPTypes
import NIOCore

/// What the calls of the operator's programs need.
package struct OperationSettings: Sendable {
    /// Whether the node should receive requests: its tail keeps up, and it is not stopping.
    let isReady: @Sendable () -> Bool
    /// The callers that may read the metrics at the address of the API.
    let metricsAccess: MetricsAccess

    package init(isReady: @escaping @Sendable () -> Bool, metricsAccess: MetricsAccess) {
        self.isReady = isReady
        self.metricsAccess = metricsAccess
    }
}

struct OperationCalls: Sendable {
    let settings: OperationSettings
    let metrics: MetricsPage

    var routes: [Route] {
        [
            Route(.get, "/health/live", .getLiveness, query: .ignored, .open(getLiveness)),
            Route(.get, "/health/ready", .getReadiness, query: .ignored, .open(getReadiness)),
            Route(.get, "/openapi.yaml", .getOpenAPI, query: .ignored, .open(getOpenAPI)),
        ] + metricsRoutes
    }

    private var metricsRoutes: [Route] {
        func route(_ endpoint: Route.Endpoint) -> [Route] {
            [Route(.get, MetricsPage.path, .getMetrics, query: .ignored, endpoint)]
        }
        switch settings.metricsAccess {
        case .open: return route(.open { _ in await metrics.answer() })
        case .admin: return route(.admin(.metrics) { _, _ in await metrics.answer() })
        case .elsewhere: return []
        }
    }

    /// Reports that the process answers requests. Checks nothing else.
    private func getLiveness(_ call: Call) -> Answer { .json(.status("live")) }

    private func getReadiness(_ call: Call) throws -> Answer {
        guard settings.isReady() else {
            throw Problem(
                .unavailable,
                "This node is starting or stopping, or cannot read the log from PostgreSQL. See its own log. "
                    + "Use another node.",
                retryAfterS: 1)
        }
        return .json(.status("ready"))
    }

    /// Browsers show a text, and save what they do not know, such as `application/yaml`.
    private func getOpenAPI(_ call: Call) -> Answer {
        Answer(status: .ok, headers: Headers.of(type: "text/yaml; charset=utf-8"), body: OpenAPI.body)
    }
}

extension JSONText {
    fileprivate static func status(_ word: String) -> JSONText { JSONText(.object([.init("status", .string(word))])) }
}

/// docs/openapi.yaml, embedded by the build.
package enum OpenAPI {
    package static let text = EmbeddedDocuments.openAPI
    static let body = ByteBuffer(string: text)
}
