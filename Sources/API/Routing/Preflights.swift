// What a browser asks before it lets a web page of another origin make a call (Fetch Standard, 3.2.5 "CORS-preflight
// fetch"). Whom the answers let in is the transport's to write, on this one as on all.
import HTTPTypes
import Transport

/// Answers preflights without a token: a browser sends none, and nothing is told that openapi.yaml doesn't say.
struct Preflights: Sendable {
    /// What clients of this API send, and no more. `*` would leave out `Authorization`.
    private static let headers = "Authorization, Content-Type, Accept, Cache-Control, Last-Event-ID, Prefer, Range"
    /// Two hours, the most that Chromium keeps it.
    private static let maxAgeS = 7_200

    /// Nil: no origin is let in.
    let policy: CrossOriginPolicy?
    let table: RouteTable

    /// Nil for what is no preflight, for an origin that isn't let in, and for a path that there isn't.
    func answer(_ request: InboundRequest) -> OutboundResponse? {
        guard let policy, let origin = request.headers.first(.origin), policy.allows(origin),
            request.headers.contains(.accessControlRequestMethod)
        else { return nil }
        let methods = table.methods(for: request.path)
        guard !methods.isEmpty else { return nil }
        return OutboundResponse(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: methods.map(\.rawValue).joined(separator: ", "),
                .accessControlAllowHeaders: Self.headers, .accessControlMaxAge: String(Self.maxAgeS),
            ])
    }
}
