// How large, how many and how slow uploads may be.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Limits of uploads", .timeLimit(.minutes(3)))
    struct UploadLimits {
        private static let settings = [
            "PARLEY_ATTACHMENT_BYTES_MAX": "400000", "PARLEY_ATTACHMENT_QUOTA_BYTES": "1000000",
            "PARLEY_UNUSED_ATTACHMENTS_MAX": "5",
        ]
        private static let started = Task {
            try await Node.start(database: try await MigratedDatabase.create(), settings: settings)
        }

        let node: Node
        let ann: Person

        init() async throws {
            node = try await Self.started.value
            ann = try await node.client.register("Ann")
        }

        private var caller: Connection { Connection(node.address) }

        /// Sends only a head that declares a length, and returns the answer.
        private func declare(_ method: String, _ path: String, _ byteCount: Int, _ headers: Headers = []) async throws
            -> Answer
        {
            let upload = try await RawUpload.begin(
                path, method: method, at: node.address, as: ann, .length(byteCount), headers)
            return try await upload.connection.receive()
        }

        @Test("a declared length that is too large: 413 before the body is read")
        func declared() async throws {
            for (method, path) in [("PUT", Attachments.path(newID())), ("POST", "/v1/attachments")] {
                let answer = try await declare(method, path, 400_001)
                #expect(answer.status == 413 && answer.code == "attachment_too_large", "\(answer)")
            }
            let partial = try await caller.begin(newID(), length: 400_001, as: ann)
            #expect(partial.status == 413 && partial.code == "attachment_too_large", "\(partial)")
            let id = newID()
            #expect(try await caller.begin(id, length: nil, as: ann).status == 201)
            let part = try await declare(
                "PATCH", Attachments.path(id, "/upload"), 400_001,
                [
                    ("Content-Type", "application/partial-upload"), ("Upload-Offset", "0"), ("Upload-Complete", "?0"),
                ])
            #expect(part.status == 413 && part.code == "attachment_too_large", "\(part)")
            #expect(try await caller.put(TestFile.random(400_000).bytes, newID(), as: ann).status == 201)
        }

        @Test("an undeclared length that becomes too large: 413 while the body arrives")
        func chunked() async throws {
            let upload = try await RawUpload.begin(Attachments.path(newID()), at: node.address, as: ann, .chunked)
            try? await upload.send(TestFile.random(400_001).bytes, pieces: 10_000)
            let answer = try await upload.connection.receive()
            #expect(answer.status == 413 && answer.code == "attachment_too_large", "\(answer)")
        }

        @Test("over the account's quota: 403, and deleting a file makes room")
        func quota() async throws {
            var ids: [String] = []
            for _ in 0..<2 {
                ids.append(try await caller.uploaded(TestFile.random(400_000).bytes, as: ann)["id"].string ?? "")
            }
            let full = try await declare("PUT", Attachments.path(newID()), 300_000)
            #expect(full.status == 403 && full.code == "quota_exceeded", "\(full)")
            // Others have their own quota.
            let ben = try await node.client.register("Ben")
            #expect(try await caller.put(TestFile.random(300_000).bytes, newID(), as: ben).status == 201)
            #expect(try await caller.delete(Attachments.path(ids[0]), as: ann).status == 204)
            try await eventually("room", within: .seconds(60), every: .milliseconds(200)) {
                try await caller.put(TestFile.random(300_000).bytes, newID(), as: ann).status == 201 ? true : nil
            }
        }

        @Test("unused attachments of an account are limited")
        func unused() async throws {
            for _ in 0..<5 { _ = try await caller.uploaded(TestFile.random(100).bytes, as: ann) }
            let answer = try await caller.put(TestFile.random(100).bytes, newID(), as: ann)
            #expect((400..<500).contains(answer.status) && answer.code != nil, "\(answer)")
        }

        @Test("less than 8 KiB/s over 30 s ends an upload and keeps its bytes; a little more does not")
        func slow() async throws {
            let (slowID, steadyID) = (newID(), newID())
            let file = TestFile.random(400_000)
            async let slow: Void = {
                let upload = try await RawUpload.begin(
                    Attachments.path(slowID), at: node.address, as: ann, .length(file.count))
                try await upload.send(file.bytes.prefix(50_000))
                let began = ContinuousClock.now
                let answer = try? await upload.connection.receive(within: .seconds(90))
                let took = began.duration(to: .now)
                #expect(took > .seconds(15) && took < .seconds(90), "\(took): \(String(describing: answer))")
                #expect(try await caller.progress(of: slowID, as: ann).offset == 50_000)
            }()
            async let steady: Void = {
                let upload = try await RawUpload.begin(
                    Attachments.path(steadyID), at: node.address, as: ann, .length(file.count))
                // At most 12.5 KB/s, so more than 32 s.
                try await upload.send(file.bytes, pieces: 2_500, pause: .milliseconds(200))
                let answer = try await upload.finish()
                #expect(answer.status == 201, "\(answer)")
            }()
            _ = try await (slow, steady)
        }
    }
}
