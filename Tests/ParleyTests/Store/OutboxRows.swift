// What the outbox keeps: why a message was not sent, and copies of files.
import Foundation
import Testing

@testable import Parley

@Suite("What the outbox keeps", .timeLimit(.minutes(1)))
struct OutboxRows {
    private static let problem = Problem(
        HTTPResponse(
            status: 403, headers: ["x-request-id": "r1"],
            body: Data(#"{"code": "not_reachable", "title": "No", "detail": "Not reachable."}"#.utf8)))

    @Test(
        "An error comes out of the store as it went in",
        arguments: [
            .refused(problem), .noAnswer("cut"), .unreadableAnswer("no JSON"), .signedOut, .storeInUse(path: "/s"),
            .storeFailed("full"), .fileUnreadable(path: "/photo.jpg", reason: "gone"),
            .fileUnwritable(path: "/p", reason: "full"), .closed, .notInOutbox("m1"),
        ] as [ParleyError])
    func failures(_ error: ParleyError) async throws {
        let store = try ClientStore(.memory)
        try await store.write { fold in
            try fold.queue("m1", in: "t", body: [:], files: [])
            try fold.setState(.failed, failure: .init(error), of: "m1")
        }
        let stored = try await store.read { try OutboxEntry.one("m1", $0)?.failure?.error }
        #expect(stored == error)
    }

    @Test(
        "A message in the outbox has the payload that the app wrote",
        arguments: [
            .text("Tea?"), .files, .location(LocationPayload(latitude: 52.5, longitude: 13.4, label: "Home")),
            .encrypted(Data([0, 1, 255])), .custom("x-poll", ["question": "Tea?", "options": [1, 2.5]]),
        ] as [MessageContent])
    func payloads(_ content: MessageContent) async throws {
        let client = try ParleyClient(
            .init(server: try #require(URL(string: "http://127.0.0.1:1")), store: .memory, tokens: MemoryTokenStorage())
        )
        let parts = client.parts
        try await parts.store.write { try $0.db.setValue("user_id", "ann") }
        let sent = try await client.thread("t").send(content, expiresIn: .seconds(60))
        #expect(sent.payload == content.payload && sent.type == content.type)
        let body = try await parts.store.read { try OutboxEntry.one(sent.id.rawValue, $0)?.body }
        #expect(body?["expires_in_s"] == 60)
        await client.close()
    }

    @Test("A file that cannot be copied and one that the server has leave nothing behind")
    func copies() async throws {
        let files = try OutboxFiles(.memory)
        let json = #"{"id": "a1", "name": "a", "content_type": "text/plain", "size": 3, "state": "ready"}"#
        let attachment = try JSONDecoder().decode(Attachment.self, from: Data(json.utf8))
        #expect(try files.add(.attachment(attachment)).copy == nil)
        #expect(files.pendingCount == 0)
        #expect(throws: ParleyError.self) { try files.add(.file(URL(filePath: "/there/is/none"))) }
        #expect(files.pendingCount == 0)
        let copied = try files.add(.data(Data("abc".utf8), name: "abc"))
        #expect(files.pendingCount == 1)
        // A message of several files, of which a later one could not be copied.
        files.remove([copied])
        #expect(files.pendingCount == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: files.directory.path) == [])
    }

    @Test("Copies of a store in memory go with their client")
    func copiesInMemory() throws {
        var files: OutboxFiles? = try OutboxFiles(.memory)
        let directory = try #require(files?.directory.path)
        _ = try files?.add(.data(Data("abc".utf8), name: "abc"))
        #expect(FileManager.default.fileExists(atPath: directory))
        files = nil
        #expect(!FileManager.default.fileExists(atPath: directory))
    }
}
