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
        let store = try Store(.memory)
        try await store.write { fold in
            try fold.queue("m1", in: "t", body: [:], files: [])
            try fold.setState(.failed, failure: .init(error), of: "m1")
        }
        let stored = try await store.read { try OutboxEntry.one("m1", $0)?.failure?.error }
        #expect(stored == error)
    }

    @Test("A file that cannot be copied and one that the server has leave nothing behind")
    func copies() async throws {
        let files = try OutboxFiles(.memory)
        defer { try? FileManager.default.removeItem(at: files.directory) }
        let json = #"{"id": "a1", "name": "a", "content_type": "text/plain", "size": 3, "state": "ready"}"#
        let attachment = try JSONDecoder.parley.decode(Attachment.self, from: Data(json.utf8))
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
}
