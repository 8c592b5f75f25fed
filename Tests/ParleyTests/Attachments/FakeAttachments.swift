// The attachments of a server in memory, behind a network that a test makes fail.

import Foundation

@testable import Parley

/// Answers as docs/openapi.yaml describes, for one attachment.
final class FakeAttachments: HTTPTransport {
    enum Fault: Sendable {
        /// The request does not arrive.
        case before
        /// The answer does not arrive.
        case after
        /// This many bytes of the body arrive, and then the connection breaks.
        case during(Int)
        case answer(Int, code: String)
    }

    struct State {
        var bytes: Data?
        var length: Int?
        var isComplete = false
        /// The states that the server reports of a complete file, one after the other. The last one stays.
        var states: [AttachmentState] = [.ready]
        var tag = "\"one\""
        /// The object store, if files are there.
        var elsewhere: String?
        var receivedCount = 0
        /// What was asked, such as `PATCH upload 1048576`.
        var log: [String] = []
        /// Faults by the number of the request, from 1.
        var faults: [Int: Fault] = [:]
        var tokens: [String: String?] = [:]
    }

    let id: AttachmentID = "018f3c2a-4321-7abc-8def-0123456789ab"
    let state: Locked<State>

    init(_ change: (inout State) -> Void = { _ in }) {
        var first = State()
        change(&first)
        state = Locked(first)
    }

    var caller: Connection {
        let connection = Connection(server: URL(filePath: "/"), transport: self)
        connection.setToken("secret")
        return connection
    }

    var log: [String] { state.withLock { $0.log } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try state.withLock { state in
            let name = request.url.lastPathComponent == id.rawValue ? "file" : request.url.lastPathComponent
            let size = request.body.map { " \($0.count)" } ?? ""
            state.log.append("\(request.method) \(name)\(size)")
            state.tokens[request.url.host() ?? ""] = request.headers["authorization"]
            switch state.faults[state.log.count] {
            case .before: throw ParleyError.noAnswer("cut")
            case .after:
                _ = Self.answer(request, name, &state)
                throw ParleyError.noAnswer("cut")
            case .during(let count):
                var part = request
                part.body = request.body?.prefix(count)
                if request.headers["upload-complete"] == "?1" { part.headers["upload-complete"] = "?0" }
                _ = Self.answer(part, name, &state)
                throw ParleyError.noAnswer("cut")
            case .answer(let status, let code): return Self.refusal(status, code)
            case nil: return Self.answer(request, name, &state)
            }
        }
    }

    private static func answer(_ request: HTTPRequest, _ name: String, _ state: inout State) -> HTTPResponse {
        switch (request.method, name) {
        case ("PUT", "file"): return put(request, &state)
        case ("PATCH", "upload"): return append(request, &state)
        case ("HEAD", "upload"): return state.bytes == nil ? refusal(404, "") : offset(204, state)
        case ("GET", "info"): return state.isComplete ? description(200, &state) : refusal(404, "attachment_not_found")
        case ("DELETE", "file"):
            state.bytes = nil
            return HTTPResponse(status: 204, headers: [:], body: Data())
        case ("POST", "received"):
            state.receivedCount += 1
            return HTTPResponse(status: 204, headers: [:], body: Data())
        default: return file(request, name, state)
        }
    }

    private static func put(_ request: HTTPRequest, _ state: inout State) -> HTTPResponse {
        let body = request.body ?? Data()
        guard request.headers["upload-complete"] == "?0" else {
            if state.isComplete { return body == state.bytes ? description(200, &state) : refusal(409, "id_taken") }
            state.bytes = body
            state.isComplete = true
            return description(201, &state)
        }
        guard state.bytes == nil else { return refusal(409, "upload_offset_mismatch") }
        state.bytes = body
        state.length = request.headers["upload-length"].flatMap { Int($0) }
        return offset(201, state)
    }

    private static func append(_ request: HTTPRequest, _ state: inout State) -> HTTPResponse {
        guard let bytes = state.bytes else { return refusal(404, "attachment_not_found") }
        if state.isComplete { return refusal(409, "upload_complete") }
        guard request.headers["upload-offset"] == String(bytes.count) else {
            return refusal(409, "upload_offset_mismatch")
        }
        state.bytes = bytes + (request.body ?? Data())
        guard request.headers["upload-complete"] == "?1" else { return offset(204, state) }
        state.isComplete = true
        return description(201, &state)
    }

    private static func file(_ request: HTTPRequest, _ name: String, _ state: State) -> HTTPResponse {
        let isElsewhere = request.url.host() == "bucket"
        if let address = state.elsewhere, !isElsewhere {
            return HTTPResponse(status: 307, headers: ["location": address], body: Data())
        }
        if isElsewhere, request.url.absoluteString != state.elsewhere { return refusal(403, "expired") }
        guard let bytes = state.bytes else { return refusal(404, "attachment_not_found") }
        var headers = ["etag": state.tag, "content-type": "image/jpeg"]
        let asked = request.headers["range"]?.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
        guard let asked, request.headers["if-range"].map({ $0 == state.tag }) ?? true else {
            return HTTPResponse(status: 200, headers: headers, body: bytes)
        }
        guard asked[0] < bytes.count else { return refusal(416, "range_not_satisfiable") }
        let last = min(asked[1], bytes.count - 1)
        headers["content-range"] = "bytes \(asked[0])-\(last)/\(bytes.count)"
        return HTTPResponse(status: 206, headers: headers, body: bytes.subdata(in: asked[0]..<last + 1))
    }

    private static func offset(_ status: Int, _ state: State) -> HTTPResponse {
        var headers = ["upload-offset": String(state.bytes?.count ?? 0)]
        headers["upload-complete"] = state.isComplete ? "?1" : "?0"
        headers["upload-length"] = state.length.map { String($0) }
        return HTTPResponse(status: status, headers: headers, body: Data())
    }

    private static func description(_ status: Int, _ state: inout State) -> HTTPResponse {
        let present = state.states.count > 1 ? state.states.removeFirst() : state.states[0]
        let body = """
            {"id": "018f3c2a-4321-7abc-8def-0123456789ab", "name": "a", "content_type": "image/jpeg", "thumbnail": false,
            "size": \(state.bytes?.count ?? 0), "state": "\(present)", "created_at": "2026-11-21T10:00:00.123Z"}
            """
        return HTTPResponse(status: status, headers: [:], body: Data(body.utf8))
    }

    private static func refusal(_ status: Int, _ code: String) -> HTTPResponse {
        HTTPResponse(status: status, headers: [:], body: Data("{\"code\": \"\(code)\"}".utf8))
    }
}

/// Bytes that differ from place to place.
func sampleBytes(_ count: Int) -> Data {
    var value: UInt32 = 7
    return Data(
        (0..<count).map { _ in
            value = value &* 1_664_525 &+ 1_013_904_223
            return UInt8(value >> 24)
        })
}

/// A folder of its own for one test.
func temporaryFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("parley-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
}
