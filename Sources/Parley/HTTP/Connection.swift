// Sends calls to the server: address, token, and answers that are refusals.
import Foundation

final class Connection: Sendable {
    private let server: URL
    private let transport: any HTTPTransport
    private let token = Locked<String?>(nil)

    init(server: URL, transport: any HTTPTransport) {
        self.server = server
        self.transport = transport
    }

    func setToken(_ value: String?) {
        token.withLock { $0 = value }
    }

    /// Sends a call and reads its answer.
    func call<Answer>(_ call: Call<Answer>) async throws -> Answer {
        try Task.checkCancellation()
        var request = HTTPRequest(method: call.method, url: try call.elsewhere ?? url(call.path, call.query))
        request.headers = call.headers
        request.body = call.body
        request.timeout = call.timeout
        if call.elsewhere == nil, let token = token.withLock({ $0 }) {
            request.headers["authorization"] = "Bearer \(token)"
        }
        let response = try await transport.send(request)
        guard call.accepted.contains(response.status) else { throw ParleyError.refused(Problem(response)) }
        return try call.read(response)
    }

    private func url(_ path: [String], _ query: [(name: String, value: String)]) throws -> URL {
        func encode(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? ""
        }
        var address = server.absoluteString
        while address.hasSuffix("/") { address.removeLast() }
        address += "/" + path.map(encode).joined(separator: "/")
        if !query.isEmpty {
            address += "?" + query.map { encode($0.name) + "=" + encode($0.value) }.joined(separator: "&")
        }
        guard let url = URL(string: address) else { throw ParleyError.noAnswer("\(address) is not an address") }
        return url
    }

    /// RFC 3986. Everything else is encoded.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

extension Connection {
    /// Reads all pages of a list: the array `key` of each. `first` gets the first page.
    func all(
        _ key: String, _ call: (String?) -> Call<JSONValue>, first: (JSONValue) -> Void = { _ in }
    ) async throws -> [JSONValue] {
        var rows: [JSONValue] = []
        var page: String?
        repeat {
            let answer = try await self.call(call(page))
            if page == nil { first(answer) }
            rows += answer[key]?.array ?? []
            page = answer["next"]?.string
        } while page != nil
        return rows
    }
}
