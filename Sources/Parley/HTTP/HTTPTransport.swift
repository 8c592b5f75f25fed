// The one seam to the network. The rest of the client knows neither URLSession nor sockets.
import Foundation

/// A request as it leaves the client.
public struct HTTPRequest: Sendable {
    /// `GET`, `POST` and so on.
    public var method: String
    /// The whole address, with its query.
    public var url: URL
    /// The headers by lowercase name.
    public var headers: [String: String] = [:]
    /// It is nil for a request without a body.
    public var body: Data?
    /// The longest time without an answer.
    public var timeout: Duration = .seconds(30)
}

/// A whole answer.
public struct HTTPResponse: Sendable {
    /// The HTTP status.
    public var status: Int
    /// The headers by lowercase name.
    public var headers: [String: String]
    /// It is empty if there is none.
    public var body: Data

    /// Makes an answer, for example in a transport of your own.
    public init(status: Int, headers: [String: String], body: Data) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    subscript(header: String) -> String? { headers[header] }
}

/// Sends requests. Give the client another one to add headers, to pin certificates, or to test without a network.
public protocol HTTPTransport: Sendable {
    /// Returns the answer, whatever its status. Throws `ParleyError.noAnswer` if none arrived, and `CancellationError`.
    /// Follows no redirect.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse
}
