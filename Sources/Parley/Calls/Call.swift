// One call of the contract as a value: what is sent, and how the answer is read.
import Foundation

/// A call of the contract. `ParleyClient.call(_:)` sends it: `try await parley.call(.threads.members(of: id))`.
public struct Call<Answer: Sendable>: Sendable {
    var method: String
    /// The path's segments after the server's address, not encoded: `["v1", "threads", id]`.
    var path: [String]
    var query: [(name: String, value: String)] = []
    /// An address outside of the server, instead of path and query. It receives no token.
    var elsewhere: URL?
    var headers: [String: String] = [:]
    var body: Data?
    var timeout: Duration = .seconds(30)
    /// Statuses that are answers. Every other one is thrown as `ParleyError.refused`.
    var accepted: Range<Int> = 200..<300
    var read: @Sendable (HTTPResponse) throws -> Answer
}

extension Call {
    /// The same call with an idempotency key, for a call that creates something: sent again with the key within a day, it
    /// creates nothing more and has the same answer. Choose a new key for each thing, such as a UUID.
    public func once(_ key: String) -> Self {
        var call = self
        call.headers["idempotency-key"] = key
        return call
    }

    /// The same call, whose answer is read as JSON: with everything that the server sent.
    public var raw: Call<JSONValue> {
        Call<JSONValue>(
            method: method, path: path, query: query, elsewhere: elsewhere, headers: headers, body: body,
            timeout: timeout, accepted: accepted
        ) { try $0.decode(JSONValue.self) }
    }

    /// A call with a JSON body or none.
    init(
        _ method: String, _ path: String..., query: [(String, String?)] = [], body: JSONValue? = nil,
        read: @escaping @Sendable (HTTPResponse) throws -> Answer
    ) {
        self.method = method
        self.path = path
        self.query = query.compactMap { name, value in value.map { (name, $0) } }
        self.read = read
        guard let body else { return }
        self.body = Data(body.compactText.utf8)
        headers["content-type"] = "application/json"
    }
}

extension Call where Answer: Decodable {
    /// A call whose answer is JSON.
    init(_ method: String, _ path: String..., query: [(String, String?)] = [], body: JSONValue? = nil) {
        self.init(method, query: query, body: body) { try $0.decode(Answer.self) }
        self.path = path
    }
}

extension Call where Answer == Void {
    /// A call without an answer body (204).
    init(_ method: String, _ path: String..., query: [(String, String?)] = [], body: JSONValue? = nil) {
        self.init(method, query: query, body: body) { _ in }
        self.path = path
    }
}

extension HTTPResponse {
    /// Decodes a JSON body.
    func decode<Value: Decodable>(_: Value.Type) throws -> Value {
        do {
            if Value.self == JSONValue.self, let value = try JSONValue(json: body) as? Value { return value }
            return try JSONDecoder().decode(Value.self, from: body)
        } catch {
            throw ParleyError.unreadableAnswer("\(error)", cause: error)
        }
    }
}
