// The requests that a browser sends before a call from a web page of another origin (Fetch Standard, 3.2.5
// "CORS-preflight fetch"). The transport adds the allowed origin, to these answers as to all.
import HTTPTypes
import Transport

/// Answers preflights without a token, because browsers send none. The answer has nothing that openapi.yaml does not
/// have.
struct Preflights: Sendable {
    /// The headers that clients of this API send. `*` would not include `Authorization`.
    private static let headers =
        "Authorization, Content-Type, Accept, Cache-Control, Last-Event-ID, Prefer, Range, If-Range, If-None-Match, "
        + "Content-Disposition, Idempotency-Key, Upload-Complete, Upload-Length, Upload-Offset"
    /// Two hours: Chromium keeps the answer no longer.
    private static let maxAgeS = 7_200

    /// Nil allows no origin.
    let policy: CrossOriginPolicy?
    let table: RouteTable

    /// Returns nil if the request is no preflight, its origin is not allowed, or no call has the path.
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
