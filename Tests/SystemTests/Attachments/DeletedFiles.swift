// The bytes of a deleted file leave every table: a dump of the database is searched for them.

import Basics
import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Deleted files", .timeLimit(.minutes(3)))
    struct DeletedFiles {
        private static let started = Task { try await TestNodes.own(on: try await TestCluster.shared()) }

        let nodes: TestNodes
        let ann: Person
        let bob: Person
        /// Random, so that nothing else in a dump contains it.
        let marker = TestFile.randomBytes(24)

        init() async throws {
            nodes = try await Self.started.value
            ann = try await nodes.a.client.register("Ann")
            bob = try await nodes.b.client.register("Bob")
        }

        private var a: Connection { Connection(nodes.a.address) }
        private var b: Connection { Connection(nodes.b.address) }

        /// A ready file of 300 kB, full of the marker.
        private func uploaded() async throws -> String {
            let file = TestFile.marked(marker, byteCount: 300_000)
            let id = try await a.uploaded(file.bytes, as: ann)["id"].string ?? ""
            #expect(try await isInDump(), "the search finds what is there")
            return id
        }

        private func isInDump() async throws -> Bool {
            try await TestCluster.shared().dump(of: nodes.database).contains(bytes: marker)
        }

        /// Both nodes answer 404 within a minute, and no table has any of the bytes.
        private func expectGone(_ id: String, for person: Person) async throws {
            for caller in [a, b] {
                try await eventually("404", within: .seconds(60), every: .milliseconds(100)) {
                    try await caller.download(id, as: person).status == 404
                }
            }
            try await eventually("no row", within: .seconds(60), every: .milliseconds(200)) {
                try await Psql.run(
                    """
                    select (select count(*) from attachments where id = '\(id)')
                        + (select count(*) from attachment_chunks where attachment_id = '\(id)')
                        + (select count(*) from attachment_uses where attachment_id = '\(id)')
                    """, conninfo: nodes.database) == "0"
            }
            #expect(try await !isInDump())
        }

        @Test("go with the message that is deleted for everyone")
        func deleted() async throws {
            let id = try await uploaded()
            let thread = try await a.thread("direct", by: ann, with: [bob])
            let message = try await a.shared([id], in: thread, as: ann)
            #expect(try await b.download(id, as: bob).status == 200)
            #expect(try await a.delete("/v1/threads/\(thread)/messages/\(message)?for=everyone", as: ann).status == 204)
            try await expectGone(id, for: bob)
        }

        private func receipts(of id: String) async throws -> String {
            try await Psql.run(
                "select count(*) from attachment_receipts where attachment_id = '\(id)'", conninfo: nodes.database)
        }

        /// Waits until nodes have found that all devices have a thread's message but not its file, and have deleted what
        /// was due before.
        private func waitUntilFileWaits(in thread: String) async throws {
            try await eventually("a message that is kept for its file") {
                let isKept = try await Psql.run(
                    """
                    select not exists (select from undelivered u where u.thread_id = '\(thread)')
                        and exists (select from undelivered_files f where f.thread_id = '\(thread)')
                        and not exists (select from undelivered_checks c where c.thread_id = '\(thread)' and c.due_at <= now())
                    """, conninfo: nodes.database)
                return isKept == "t"
            }
            try await nodes.waitForAttachmentSweep()
        }

        @Test("until delivered: wait for the file on every device of the recipients, and not for the sender's")
        func untilDelivered() async throws {
            let id = try await uploaded()
            let tablet = try await a.logIn(again: ann)
            let phone = try await b.logIn(again: bob)
            let body: JSON = ["kind": "group", "members": [.string(bob.id)], "retention": ["keep": "until_delivered"]]
            let thread = try await a.post("/v1/threads", body, as: ann).json["id"].string ?? ""
            let (before, start) = (try await b.cursor(of: ann), try await b.cursor(of: bob))
            _ = try await a.shared([id], in: thread, as: ann)
            // The sender's devices need the message, but not the file.
            for device in [ann, tablet] {
                let cursor = try await b.syncUntilTold(device, from: before, wait: 5).json["cursor"].string ?? ""
                _ = try await b.sync(device, from: cursor)
            }
            // Both devices have the message, and say so by their next poll.
            for device in [bob, phone] {
                let cursor = try await b.syncUntilTold(device, from: start, wait: 5).json["cursor"].string ?? ""
                _ = try await b.sync(device, from: cursor)
                #expect(try await b.transfer("HEAD", Attachments.path(id), as: device).status == 200)
                let part = try await b.download(id, as: device, [("Range", "bytes=0-99")])
                #expect(part.status == 206 && part.headers["cache-control"] == "no-store")
                _ = try await b.download(id, "/thumbnail", as: device)
            }
            try await waitUntilFileWaits(in: thread)
            #expect(try await receipts(of: id) == "0", "a part, a head or a thumbnail is not the file")
            // One device has the whole file. The other still waits for it.
            #expect(try await b.download(id, as: bob).status == 200)
            try await eventually("the record of the download") { try await receipts(of: id) == "1" }
            try await waitUntilFileWaits(in: thread)
            #expect(try await a.transfer("HEAD", Attachments.path(id), as: phone).status == 200)
            #expect(try await a.call("POST", Attachments.path(id, "/received"), as: phone).status == 204)
            try await expectGone(id, for: phone)
        }
    }
}

extension Data {
    /// Whether these bytes are in a text dump: as hex digits, as they are, or as Base64.
    fileprivate func contains(bytes: Data) -> Bool {
        let hex = bytes.hexadecimal
        // Base64 of bytes at another place begins at another bit. 24 bytes contain 21 whole ones of each.
        let texts = (0..<3).map { bytes.dropFirst($0).prefix(21).base64EncodedString() }
        return range(of: bytes) != nil || ([hex] + texts).contains { range(of: Data($0.utf8)) != nil }
    }
}
