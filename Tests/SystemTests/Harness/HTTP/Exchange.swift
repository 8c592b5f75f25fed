// A request and its answer, over any carrier: a new connection for most tests, a kept-alive one for many requests.

import Foundation
import TestSupport

struct Address: Sendable, Hashable, CustomStringConvertible {
    var host = "127.0.0.1"
    let port: Int

    var description: String { "http://\(host):\(port)" }
}

struct Request: Sendable {
    var method = "GET"
    /// The request target, query included.
    var path: String
    var headers: [(name: String, value: String)] = []
    var body: Data?
    /// The limit of the whole exchange; the test fails after it.
    var waitMax: Duration = .seconds(30)

    init(_ method: String = "GET", _ path: String) {
        self.method = method
        self.path = path
    }
}

struct Answer: Sendable, CustomStringConvertible {
    var status: Int
    /// Keyed by name in lower case; the last value if there are several.
    var headers: [String: String]
    var body: Data

    /// The body as JSON; null if it is not JSON.
    var json: JSON { (try? JSON(parsing: body)) ?? .null }
    var code: String? { json["code"].string }
    var text: String { String(decoding: body, as: UTF8.self) }
    var description: String { "\(status) \(headers) \(text.prefix(2_000))" }

    /// Parses a status line and headers; nil if the text is neither.
    static func head(_ text: String) -> (status: Int, headers: [String: String])? {
        let lines = text.split(separator: "\r\n")
        guard let first = lines.first, first.hasPrefix("HTTP/1.1 "), let status = Int(first.dropFirst(9).prefix(3))
        else {
            return nil
        }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        return (status, headers)
    }
}

/// Events that the service sends on its own, at any time: delivered marks and presence.
let unaskedEvents: Set = ["typing", "presence.updated", "receipt.updated"]

extension Answer {
    /// The events of a poll, except those that the service sends on its own.
    var told: [JSON] { json["events"].items.filter { !unaskedEvents.contains($0["type"].string ?? "") } }
}

/// Anything that sends requests to a node.
protocol Caller: Sendable {
    /// - Throws: when there is no answer.
    func send(_ request: Request) async throws -> Answer
}

extension Caller {
    func call(
        _ method: String, _ path: String, _ body: JSON? = nil, as person: Person? = nil,
        headers: [(name: String, value: String)] = [], within limit: Duration = .seconds(30)
    ) async throws -> Answer {
        var request = Request(method, path)
        request.headers = headers
        request.waitMax = limit
        if let person { request.headers.append(("Authorization", "Bearer \(person.token)")) }
        if let body {
            request.headers.append(("Content-Type", "application/json"))
            request.body = body.data
        }
        return try await send(request)
    }

    /// Repeats a call until its answer is no 503: a node whose database was away needs a moment.
    static func whenAvailable(_ call: () async throws -> Answer) async throws -> Answer {
        var answer = try await call()
        try await eventually("the node has its database again") {
            if answer.status == 503 { answer = try await call() }
            return answer.status != 503
        }
        return answer
    }

    func get(_ path: String, as person: Person? = nil, within limit: Duration = .seconds(30)) async throws -> Answer {
        try await call("GET", path, as: person, within: limit)
    }

    func post(_ path: String, _ body: JSON, as person: Person? = nil) async throws -> Answer {
        try await call("POST", path, body, as: person)
    }

    func put(_ path: String, _ body: JSON, as person: Person? = nil) async throws -> Answer {
        try await call("PUT", path, body, as: person)
    }

    func delete(_ path: String, as person: Person? = nil) async throws -> Answer {
        try await call("DELETE", path, as: person)
    }
}
