// The code of the article "Your own transport and token storage".
import Foundation
import ParleyClient

// snippet
struct HeaderTransport: HTTPTransport {
    let base = URLSessionTransport()

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var request = request
        request.headers["x-app-version"] = "1.4"
        return try await base.send(request)
    }
}
// end
