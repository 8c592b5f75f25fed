// Files for tests, and the requests that upload them.
import Basics
import Cryptography
import Domain
import NIOCore
import Testing

/// Bytes that no two files share.
func someBytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255) } }

/// As in an ETag.
func hexadecimalDigest(_ bytes: [UInt8]) -> String { SHA256.digest(bytes).hexadecimal }

func newAttachment() -> String { AttachmentID.make().description }

/// A PNG of one white pixel.
let onePixel: [UInt8] = [
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53, 0xde, 0x00, 0x00, 0x00, 0x0c, 0x49,
    0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0xf8, 0xff, 0xff, 0x3f, 0x00, 0x05, 0xfe, 0x02, 0xfe, 0x33, 0x12, 0x95, 0x14,
    0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
]

extension Client {
    /// Uploads a whole file.
    func upload(
        _ bytes: [UInt8], as id: String, query: String = "", type: String? = "application/octet-stream",
        headers: [String] = []
    ) async throws -> Reply {
        try await send("PUT", "/v1/attachments/\(id)\(query)", bytes: bytes, type: type, headers: headers)
    }

    /// Continues an upload.
    func append(
        _ bytes: [UInt8], to id: String, at offset: Int, isComplete: Bool, headers: [String] = []
    ) async throws -> Reply {
        try await send(
            "PATCH", "/v1/attachments/\(id)/upload", bytes: bytes, type: "application/partial-upload",
            headers: ["Upload-Offset: \(offset)", "Upload-Complete: \(isComplete ? "?1" : "?0")"] + headers)
    }

    func progress(of id: String) async throws -> Reply { try await send("HEAD", "/v1/attachments/\(id)/upload") }

    func download(_ id: String, headers: [String] = [], query: String = "") async throws -> Reply {
        try await send("GET", "/v1/attachments/\(id)\(query)", bytes: nil, headers: headers)
    }

    /// A request as bytes, with a body that need not be the one that its headers declare.
    func request(_ method: String, _ path: String, headers: [String], body: [UInt8]) -> ByteBuffer {
        let lines =
            ["\(method) \(path) HTTP/1.1", "Host: localhost", "Connection: close"] + headers
            + (token.map { ["Authorization: Bearer \($0)"] } ?? [])
        var request = ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n")
        request.writeBytes(body)
        return request
    }
}

extension Person {
    /// Uploads a file and returns its id.
    func file(_ bytes: [UInt8], query: String = "", type: String? = "application/octet-stream") async throws -> String {
        let id = newAttachment()
        let reply = try await client.upload(bytes, as: id, query: query, type: type)
        #expect(reply.status == 201, "\(reply.text)")
        return id
    }
}
