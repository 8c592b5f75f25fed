// Whole uploads: one request each. Resumable ones are in ResumingUploads.swift, limits in UploadLimits.swift.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Uploading files")
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

        @Test("POST makes the id")
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

        @Test("the bytes as uploaded count for a repetition, not those kept without metadata")
        func againWithoutMetadata() async throws {
            let picture = try await TestPictures.shared()["orientation-6.jpg"]
            let id = newID()
            #expect(try await a.put(picture, id, as: ann).status == 201)
            let kept = try await a.download(id, as: ann).body
            #expect(kept != picture)
            #expect(try await b.put(picture, id, as: ann).status == 200)
            let other = try await b.put(kept, id, as: ann)
            #expect(other.status == 409 && other.code == "id_taken", "\(other)")
        }

        @Test("other bytes or another account: 409, and the stored bytes stay")
        func taken() async throws {
            let file = TestFile.random(300_000)
            let id = newID()
            #expect(try await a.put(file.bytes, id, as: ann).status == 201)
            var changed = file.bytes
            changed[299_999] ^= 1
            for other in [changed, file.bytes.dropLast(), file.bytes + Data([0]), Data()] {
                let answer = try await b.put(other, id, as: ann)
                #expect(answer.status == 409 && answer.code == "id_taken", "\(answer)")
            }
            #expect(try await b.put(file.bytes, id, as: bob).status == 409)
            #expect(try await b.begin(id, as: bob).status == 409)
            #expect(try await b.download(id, as: ann).digest == file.digest)
        }

        @Test("chunked, in pieces of any size", arguments: [1_000, 262_144, 300_001])
        func chunked(pieces: Int) async throws {
            let file = TestFile.random(600_000)
            let id = newID()
            let upload = try await RawUpload.begin(
                Attachments.path(id), at: nodes.a.address, as: ann, .chunked)
            try await upload.send(file.bytes, pieces: pieces)
            let answer = try await upload.finish()
            #expect(answer.status == 201 && answer.json["size"] == 600_000, "\(answer)")
            #expect(try await upload.connection.interimStatuses() == [])
            #expect(try await b.download(id, as: ann).digest == file.digest)
        }

        @Test("sizes at the borders of chunks", arguments: [0, 1, 262_143, 262_144, 262_145, 524_288])
        func borders(byteCount: Int) async throws {
            let file = TestFile.random(byteCount)
            let id = newID()
            let answer = try await a.put(file.bytes, id, as: ann)
            #expect(answer.status == 201 && answer.json["size"].int == byteCount, "\(answer)")
            let got = try await b.download(id, as: ann)
            #expect(
                got.status == 200 && got.digest == file.digest && got.headers["etag"] == file.etag, "\(got.headers)")
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

        @Test("refuses unknown parameters, wrong ids and wrong headers")
        func refusals() async throws {
            let bytes = Data("x".utf8)
            for (method, path, statuses) in [
                ("PUT", Attachments.path(newID(), "?nam=x"), [422]),
                ("PUT", Attachments.path(newID(), "?name=x&y=1"), [422]),
                ("POST", "/v1/attachments?what=1", [422]),
                ("PUT", Attachments.path("not-an-id"), [404, 422]),
                ("POST", Attachments.path(newID()), [405]),
                ("PUT", "/v1/attachments", [405]),
            ] as [(String, String, Set<Int>)] {
                let answer = try await a.transfer(method, path, bytes, as: ann)
                #expect(statuses.contains(answer.status), "\(method) \(path): \(answer)")
            }
            for headers in [[("Upload-Complete", "true")], [("Upload-Complete", "?0"), ("Upload-Length", "-1")]] {
                let answer = try await a.put(bytes, newID(), as: ann, headers)
                #expect([400, 422].contains(answer.status), "\(headers): \(answer)")
            }
            #expect(try await a.put(bytes, newID(), as: nil).status == 401)
            #expect(try await a.get(Attachments.path(newID(), "/info"), as: ann).status == 404)
        }

        @Test("the owner gives up an unused attachment; a used one: 409")
        func delete() async throws {
            let id = try await a.uploaded(TestFile.random(300_000).bytes, as: ann)["id"].string ?? ""
            #expect(try await b.delete(Attachments.path(id), as: bob).status == 404)
            #expect(try await b.delete(Attachments.path(id), as: ann).status == 204)
            for caller in [a, b] { #expect(try await caller.download(id, as: ann).status == 404) }
            #expect(try await a.delete(Attachments.path(id), as: ann).status == 404)

            let used = try await a.uploaded(TestFile.random(1_000).bytes, as: ann)["id"].string ?? ""
            let thread = try await a.thread("direct", by: ann, with: [bob])
            _ = try await a.shared([used], in: thread, as: ann)
            let refused = try await b.delete(Attachments.path(used), as: ann)
            #expect(refused.status == 409 && refused.code == "attachment_in_use", "\(refused)")
            #expect(try await b.delete(Attachments.path(used), as: bob).status != 204)
            #expect(try await b.download(used, as: bob).status == 200)
        }
    }
}
