// The calls of the contract's section "Attachments", as tests make them.

import Foundation
import TestSupport
import Testing

enum Attachments {
    static func path(_ id: String, _ rest: String = "") -> String { "/v1/attachments/\(id)\(rest)" }

    /// A query `?name=…`.
    static func name(_ name: String?) -> String { name.map { "?name=" + percentEncoded($0) } ?? "" }
}

typealias Headers = [(name: String, value: String)]

extension Caller {
    /// A request with a body of bytes.
    func transfer(
        _ method: String, _ path: String, _ bytes: Data? = nil, as person: Person? = nil, _ headers: Headers = [],
        within limit: Duration = .seconds(30)
    ) async throws -> Answer {
        var request = Request(method, path)
        request.headers = headers
        request.body = bytes
        request.waitMax = limit
        if let person { request.headers.append(("Authorization", "Bearer \(person.token)")) }
        return try await send(request)
    }

    /// Uploads a whole file under the client's id.
    func put(
        _ file: Data, _ id: String, name: String? = nil, type: String? = nil, as person: Person?,
        _ headers: Headers = []
    ) async throws -> Answer {
        try await transfer(
            "PUT", Attachments.path(id, Attachments.name(name)), file, as: person,
            (type.map { [("Content-Type", $0)] } ?? []) + headers)
    }

    /// Uploads a file and returns the ready attachment.
    func uploaded(
        _ file: Data, name: String? = nil, type: String? = nil, as person: Person,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSON {
        let id = newID()
        let answer = try await put(file, id, name: name, type: type, as: person)
        try #require(answer.status == 201, "\(answer)", sourceLocation: sourceLocation)
        guard answer.json["state"] != "ready" else { return answer.json }
        return try await ready(id, as: person)
    }

    /// Waits until an attachment is ready and returns it.
    func ready(_ id: String, as person: Person) async throws -> JSON {
        try await eventually("attachment \(id) to be ready", every: .milliseconds(50)) {
            let info = try await get(Attachments.path(id, "/info"), as: person)
            return info.json["state"] == "ready" ? info.json : nil
        }
    }

    /// Begins a resumable upload with the first bytes of a file, none by default.
    func begin(_ id: String, _ first: Data = Data(), length: Int? = nil, as person: Person?) async throws -> Answer {
        var headers: Headers = [("Upload-Complete", "?0")]
        if let length { headers.append(("Upload-Length", "\(length)")) }
        return try await transfer("PUT", Attachments.path(id), first, as: person, headers)
    }

    func progress(of id: String, as person: Person?) async throws -> Answer {
        try await transfer("HEAD", Attachments.path(id, "/upload"), as: person)
    }

    func append(
        _ part: Data, to id: String, at offset: Int, complete: Bool, as person: Person?, _ headers: Headers = []
    ) async throws -> Answer {
        try await transfer(
            "PATCH", Attachments.path(id, "/upload"), part, as: person,
            [
                ("Content-Type", "application/partial-upload"), ("Upload-Offset", "\(offset)"),
                ("Upload-Complete", complete ? "?1" : "?0"),
            ] + headers)
    }

    /// Downloads an attachment, or its thumbnail with `/thumbnail`.
    func download(_ id: String, _ variant: String = "", as person: Person?, _ headers: Headers = []) async throws
        -> Answer
    {
        try await transfer("GET", Attachments.path(id, variant), as: person, headers)
    }

    /// Sends a message with these attachments.
    func share(
        _ ids: [String], in thread: String, as person: Person, id: String = newID(), more: [String: JSON] = [:]
    ) async throws -> Answer {
        let payload: JSON = ["attachments": .array(ids.map { ["id": .string($0)] })]
        let body = ["id": .string(id), "payload": payload].merging(more) { $1 }
        return try await post("/v1/threads/\(thread)/messages", .object(body), as: person)
    }

    /// Sends a message with these attachments and returns its id.
    func shared(
        _ ids: [String], in thread: String, as person: Person, more: [String: JSON] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let answer = try await share(ids, in: thread, as: person, more: more)
        try #require(answer.status == 201, "\(answer)", sourceLocation: sourceLocation)
        return try #require(answer.json["id"].string, sourceLocation: sourceLocation)
    }

    /// Returns the path and query of a new signed link.
    func link(
        _ id: String, _ body: JSON = [:], as person: Person, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let answer = try await post(Attachments.path(id, "/link"), body, as: person)
        try #require(answer.status == 200, "\(answer)", sourceLocation: sourceLocation)
        let url = try #require(answer.json["url"].string, sourceLocation: sourceLocation)
        let start = try #require(url.range(of: "/v1/attachments/"), "\(url)", sourceLocation: sourceLocation)
        return String(url[start.lowerBound...])
    }

    /// Returns a `Cookie` header with a new media cookie of the session.
    func mediaCookie(of person: Person, sourceLocation: SourceLocation = #_sourceLocation) async throws -> Headers {
        let answer = try await call("POST", "/v1/sessions/current/media-cookie", as: person)
        try #require(answer.status == 204, "\(answer)", sourceLocation: sourceLocation)
        let set = try #require(answer.headers["set-cookie"], sourceLocation: sourceLocation)
        return [("Cookie", String(set.prefix { $0 != ";" }))]
    }
}

extension Answer {
    var offset: Int? { headers["upload-offset"].flatMap { Int($0) } }
    /// The body's SHA-256 in hex.
    var digest: String { TestFile.digest(of: body) }
}
