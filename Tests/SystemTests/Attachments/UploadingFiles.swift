// Whole uploads: one request each. Resumable ones are in ResumingUploads.swift, limits in UploadLimits.swift.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Uploading files", .timeLimit(.minutes(3)))
    struct UploadingFiles: TwoPeopleSuite {
        let people: TwoPeople

        init() async throws { people = try await TwoPeople() }

        private var a: Connection { Connection(nodes.a.address) }
        private var b: Connection { Connection(nodes.b.address) }

        @Test("PUT stores the bytes under the client's id, and both nodes return them")
        func put() async throws {
            let file = TestFile.random(700_000)
            let id = newID()
            let answer = try await a.put(file.bytes, id, name: "Plan für 2027.bin", type: "text/html", as: ann)
            #expect(answer.status == 201, "\(answer)")
            let stored = answer.json
            #expect(stored["id"].string == id && stored["name"] == "Plan für 2027.bin" && stored["size"] == 700_000)
            // Sniffed, not declared.
            #expect(stored["content_type"] == "application/octet-stream" && stored["state"] == "ready")
            #expect(stored["thumbnail"] == false && stored["created_at"].string != nil)
            #expect(
                stored.keys == ["id", "name", "content_type", "size", "state", "thumbnail", "created_at"], "\(stored)")
            for caller in [a, b] {
                let got = try await caller.download(id, as: ann)
                #expect(got.status == 200 && got.digest == file.digest && got.body.count == file.count)
                #expect(try await caller.get(Attachments.path(id, "/info"), as: ann).json == stored)
            }
        }

        @Test("POST creates the id")
        func post() async throws {
            let file = TestFile.random(10_000)
            let answer = try await a.transfer("POST", "/v1/attachments?name=x.bin", file.bytes, as: ann)
            #expect(answer.status == 201 && answer.json["name"] == "x.bin", "\(answer)")
            let id = answer.json["id"].string ?? ""
            #expect(UUID(uuidString: id) != nil && id == id.lowercased() && Array(id)[14] == "7", "\(id)")
            #expect(try await b.download(id, as: ann).digest == file.digest)
        }

        @Test("the same bytes again: 200 and the same attachment, on any node, also once a message has it")
        func again() async throws {
            let file = TestFile.random(300_000)
            let id = newID()
            let first = try await a.put(file.bytes, id, as: ann)
            #expect(first.status == 201)
            for _ in 0..<2 {
                let second = try await b.put(file.bytes, id, as: ann)
                #expect(second.status == 200 && second.json == first.json, "\(second)")
            }
            let thread = try await a.thread("direct", by: ann, with: [bob])
            _ = try await a.shared([id], in: thread, as: ann)
            #expect(try await b.put(file.bytes, id, as: ann).status == 200)
        }

        @Test("chunked, in pieces of any size")
        func chunked() async throws {
            for pieces in [1_000, 262_144, 300_001] {
                let file = TestFile.random(600_000)
                let id = newID()
                let upload = try await RawUpload.begin(
                    Attachments.path(id), at: nodes.a.address, as: ann, .chunked)
                try await upload.send(file.bytes, pieces: pieces)
                let answer = try await upload.finish()
                #expect(answer.status == 201 && answer.json["size"] == 600_000, "\(pieces): \(answer)")
                #expect(try await upload.connection.interimStatuses() == [])
                #expect(try await b.download(id, as: ann).digest == file.digest)
            }
        }

        @Test("sizes at the borders of chunks")
        func borders() async throws {
            for byteCount in [0, 1, 262_143, 262_144, 262_145, 524_288] {
                let file = TestFile.random(byteCount)
                let id = newID()
                let answer = try await a.put(file.bytes, id, as: ann)
                #expect(answer.status == 201 && answer.json["size"].int == byteCount, "\(answer)")
                let got = try await b.download(id, as: ann)
                #expect(got.status == 200 && got.digest == file.digest, "\(byteCount): \(got.headers)")
                #expect(got.headers["etag"] == file.etag, "\(byteCount)")
            }
        }

        @Test("no interim answer, but 100 to a client that expects it")
        func interim() async throws {
            let file = TestFile.random(1_000)
            let upload = try await RawUpload.begin(
                Attachments.path(newID()), at: nodes.a.address, as: ann, .length(file.count),
                [("Expect", "100-continue")])
            #expect(try await upload.connection.receiveInterim() == [100])
            try await upload.send(file.bytes)
            #expect(try await upload.finish().status == 201)

            // Interop versions of clients that understand 104.
            for version in ["6", "8"] {
                let plain = try await RawUpload.begin(
                    Attachments.path(newID()), at: nodes.a.address, as: ann, .length(file.count),
                    [("Upload-Draft-Interop-Version", version), ("Upload-Complete", "?1")])
                try await plain.send(file.bytes)
                #expect(try await plain.finish().status == 201)
                #expect(try await plain.connection.interimStatuses() == [])
            }
        }
    }
}
