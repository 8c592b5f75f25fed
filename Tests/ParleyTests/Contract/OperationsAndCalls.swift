// Every operation of docs/openapi.yaml that a user's client needs has its call, and the call fits the description.

import Foundation
import Testing

@testable import Parley

@Suite("The operations of docs/openapi.yaml", .timeLimit(.minutes(1)))
struct OperationsAndCalls {
    let description: Description

    init() throws { description = try Description.shared.get() }

    @Test("each have one call, or are for operators")
    func complete() {
        let foreign = ["/v1/admin/", "/v1/hooks/", "/health/", "/metrics", "/openapi.yaml"]
        let needed = description.operations.filter { operation in !foreign.contains { operation.path.hasPrefix($0) } }
        let samples = SampleCall.all.map(\.operation)
        #expect(
            Set(needed.map(\.id)).symmetricDifference(samples).sorted() == [],
            "Each needs a call in Sources/Parley/Calls, and an entry in Tests/ParleyTests/Contract/SampleCalls.swift.")
        #expect(samples.count == needed.count)
    }

    @Test("have a call of their method, path and parameters", arguments: SampleCall.all + SampleCall.forms)
    func request(_ call: SampleCall) throws {
        let operation = try operation(call)
        #expect(call.method == operation.method)
        let pattern = operation.path.split(separator: "/")
        #expect(pattern.count == call.path.count, "\(call.path)")
        for (part, segment) in zip(pattern, call.path) {
            #expect(part.hasPrefix("{") && !segment.isEmpty || part == segment, "\(call.path)")
        }
        let parameters = (operation.content["parameters"]?.array ?? []).map { description.resolved($0) }
        func names(in place: String) -> Set<String> {
            Set(parameters.filter { $0["in"]?.string == place }.compactMap { $0["name"]?.string })
        }
        #expect(names(in: "query").isSuperset(of: call.query))
        let headers = Set(names(in: "header").map { $0.lowercased() })
        #expect(headers.union(["content-type"]).isSuperset(of: call.headers.keys))
        for parameter in parameters where parameter["required"] == true && parameter["in"]?.string == "header" {
            #expect(call.headers[parameter["name"]?.string?.lowercased() ?? ""] != nil)
        }
    }

    @Test("have a call with a body as described", arguments: SampleCall.all + SampleCall.forms)
    func body(_ call: SampleCall) throws {
        let operation = try operation(call)
        guard let request = operation.content["requestBody"].map({ description.resolved($0) }) else {
            #expect(call.body == nil)
            return
        }
        let body = try #require(call.body)
        guard let type = request["content"]?.dictionary?.first else { return }
        #expect(call.headers["content-type"] == type.key)
        guard type.key == "application/json", let schema = type.value["schema"] else { return }
        #expect(description.mistakes(try JSONDecoder().decode(JSONValue.self, from: body), schema) == [])
    }

    @Test("have a call that reads all answers", arguments: SampleCall.all)
    func answers(_ call: SampleCall) throws {
        let responses = try operation(call).content["responses"]?.dictionary ?? [:]
        for (status, response) in responses.compactMap({ key, value in Int(key).map { ($0, value) } })
        where call.accepted.contains(status) && (status < 300 || status == 307) {
            // A call for each of the two forms of a registration.
            if call.operation == "register", status == 202 { continue }
            #expect(throws: Never.self, "\(status)") { try call.read(answer(status, description.resolved(response))) }
        }
    }

    /// The requests in the description. Sends always have an id, so that they can be repeated.
    @Test("have a call for each example of a request")
    func examples() throws {
        var count = 0
        for operation in description.operations {
            let type = operation.content["requestBody"]?["content"]?["application/json"]
            let several = (type?["examples"]?.dictionary ?? [:]).values.compactMap { $0["value"] }
            for example in several + [type?["example"]].compactMap({ $0 }) {
                count += 1
                let bodies = try (SampleCall.all + SampleCall.forms).filter { $0.operation == operation.id }.map {
                    try Self.withoutID(JSONDecoder().decode(JSONValue.self, from: $0.body ?? Data()))
                }
                #expect(
                    bodies.contains(Self.withoutID(example)),
                    "SampleCalls.swift needs \(operation.id) with the example \(example)")
            }
        }
        #expect(count >= 18)
    }

    private static func withoutID(_ body: JSONValue) -> JSONValue {
        var body = body
        body["id"] = nil
        return body
    }

    private func operation(
        _ call: SampleCall
    ) throws -> (id: String, method: String, path: String, content: JSONValue) {
        var operation = try #require(description.operations.first { $0.id == call.operation })
        // Parameters may also stand beside the operations of a path.
        let shared = description.root["paths"]?[operation.path]?["parameters"]?.array ?? []
        operation.content["parameters"] = .array((operation.content["parameters"]?.array ?? []) + shared)
        return operation
    }

    /// An answer of this status as described.
    private func answer(_ status: Int, _ response: JSONValue) throws -> HTTPResponse {
        var headers = [
            "upload-offset": "5", "upload-complete": "?0", "upload-length": "10", "location": "https://example.org/a",
            "etag": "\"tag\"", "set-cookie": "parley_media=a",
        ]
        if status == 206 { headers["content-range"] = "bytes 0-4/10" }
        let type = response["content"]?.dictionary?.first { $0.key != "text/event-stream" }
        headers["content-type"] = type?.key
        let body: Data =
            switch type?.key {
            case "application/json": try description.sample(type?.value["schema"] ?? .null).data
            case "application/x-ndjson":
                Data("{\"type\":\"account\"}\n{\"type\":\"end\",\"data\":{\"lines\":1}}\n".utf8)
            case nil: Data()
            default: Data("bytes".utf8)
            }
        return HTTPResponse(status: status, headers: headers, body: body)
    }
}
