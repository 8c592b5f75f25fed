// Uploads in several requests, by the headers of the IETF draft "Resumable Uploads for HTTP".

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Resuming uploads", .timeLimit(.minutes(3)))
    struct ResumingUploads: TwoPeopleSuite {
        let people: TwoPeople

        init() async throws { people = try await TwoPeople() }

        private var a: Connection { Connection(nodes.a.address) }
        private var b: Connection { Connection(nodes.b.address) }

        /// HEAD's answer must have exactly this state.
        private func expectProgress(
            _ id: String, _ offset: Int, complete: Bool = false, length: Int?,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            for caller in [b, a] {
                let answer = try await caller.progress(of: id, as: ann)
                #expect(answer.status == 204 && answer.offset == offset, "\(answer)", sourceLocation: sourceLocation)
                let isComplete = answer.headers["upload-complete"]
                #expect(isComplete == (complete ? "?1" : "?0"), "\(answer)", sourceLocation: sourceLocation)
                let given = answer.headers["upload-length"]
                #expect(given == length.map { "\($0)" }, "\(answer)", sourceLocation: sourceLocation)
                #expect(answer.headers["cache-control"] == "no-store", sourceLocation: sourceLocation)
            }
        }

        @Test("an upload begins empty, continues in parts on either node, and ends as an attachment")
        func parts() async throws {
            let file = TestFile.random(900_000)
            let id = newID()
            let begun = try await a.begin(id, length: file.count, as: ann)
            #expect(begun.status == 201 && begun.offset == 0, "\(begun)")
            #expect(begun.headers["location"]?.hasSuffix(Attachments.path(id, "/upload")) == true, "\(begun)")
            #expect(begun.headers["upload-limit"] == "max-size=52428800, max-age=86400", "\(begun)")
            #expect(begun.json["state"] == "receiving", "\(begun)")
            try await expectProgress(id, 0, length: file.count)
            let unready = try await b.download(id, as: ann)
            #expect(unready.status == 409 && unready.code == "attachment_not_ready", "\(unready)")
            #expect(try await b.download(id, as: bob).status == 404)
            #expect(try await b.progress(of: id, as: bob).status == 404)
            #expect(try await a.get(Attachments.path(id, "/info"), as: ann).json["state"] == "receiving")

            for (caller, range) in [(b, 0..<100), (a, 100..<262_144), (b, 262_144..<600_000)] {
                let answer = try await caller.append(
                    file.bytes[range], to: id, at: range.lowerBound, complete: false, as: ann)
                #expect(answer.status == 204 && answer.offset == range.upperBound, "\(answer)")
                try await expectProgress(id, range.upperBound, length: file.count)
            }
            let last = try await a.append(file.bytes[600_000...], to: id, at: 600_000, complete: true, as: ann)
            #expect(last.status == 201 && last.json["id"].string == id, "\(last)")
            #expect(last.json["size"].int == file.count)
            _ = try await a.ready(id, as: ann)
            try await expectProgress(id, file.count, complete: true, length: file.count)
            #expect(try await b.download(id, as: ann).digest == file.digest)
            let after = try await b.append(Data([1]), to: id, at: file.count, complete: true, as: ann)
            #expect(after.status == 409, "\(after)")
            #expect(try await b.put(file.bytes, id, as: ann).status == 200)
        }

        @Test("the first request may carry a part, the length may stay unknown, and the last part may be empty")
        func unknownLength() async throws {
            let file = TestFile.random(300_000)
            let id = newID()
            let begun = try await a.begin(id, file.bytes.prefix(100_000), as: ann)
            #expect(begun.status == 201 && begun.offset == 100_000, "\(begun)")
            try await expectProgress(id, 100_000, length: nil)
            let more = try await b.append(file.bytes[100_000...], to: id, at: 100_000, complete: false, as: ann)
            #expect(more.status == 204 && more.offset == 300_000, "\(more)")
            let last = try await a.append(Data(), to: id, at: 300_000, complete: true, as: ann)
            #expect(last.status == 201 && last.json["size"] == 300_000, "\(last)")
            #expect(try await b.download(id, as: ann).digest == file.digest)
        }

        @Test("POST begins a resumable upload, too")
        func post() async throws {
            let answer = try await a.transfer("POST", "/v1/attachments", as: ann, [("Upload-Complete", "?0")])
            #expect(answer.status == 201 && answer.offset == 0, "\(answer)")
            let id = try #require(answer.json["id"].string)
            #expect(answer.headers["location"]?.hasSuffix(Attachments.path(id, "/upload")) == true)
            #expect(try await b.append(Data("hello".utf8), to: id, at: 0, complete: true, as: ann).status == 201)
        }

        @Test("what arrived of a broken PUT is kept, and PATCH continues it", arguments: RawUpload.Cut.allCases)
        func brokenPut(cut: RawUpload.Cut) async throws {
            let file = TestFile.random(1_000_000)
            let id = newID()
            let before = try await nodes.a.metric("parley_upload_bytes_total") ?? 0
            let upload = try await RawUpload.begin(
                Attachments.path(id), at: nodes.a.address, as: ann, .length(file.count))
            try await upload.send(file.bytes.prefix(700_000))
            // RST destroys bytes that the node has not read. It stores a whole chunk when it reads on.
            if cut == .reset {
                try await eventually("two stored chunks") {
                    try await nodes.a.metric("parley_upload_bytes_total") ?? 0 >= before + 524_288
                }
                try await upload.waitUntilRead()
            }
            await upload.end(by: cut)
            let offset = try await eventually("the offset") { () -> Int? in
                let answer = try await b.progress(of: id, as: ann)
                return answer.offset == 700_000 ? answer.offset : nil
            }
            let last = try await b.append(file.bytes[offset...], to: id, at: offset, complete: true, as: ann)
            #expect(last.status == 201, "\(last)")
            #expect(try await a.download(id, as: ann).digest == file.digest)
        }

        @Test("a second writer ends the first, on the same node and on another", arguments: [true, false])
        func secondWriter(onSameNode: Bool) async throws {
            let file = TestFile.random(2_000_000)
            let id = newID()
            _ = try await a.begin(id, length: file.count, as: ann)
            let first = try await RawUpload.resume(id, at: 0, of: file.count, on: nodes.a.address, as: ann)
            try await first.send(file.bytes.prefix(500_000))
            let second = onSameNode ? a : b
            let offset = try await eventually("the offset") { () -> Int? in
                let answer = try await second.progress(of: id, as: ann)
                // The node keeps the begun chunk until it is full, or the request ends.
                return answer.offset == 262_144 ? answer.offset : nil
            }
            let answer = try await second.append(file.bytes[offset...], to: id, at: offset, complete: true, as: ann)
            #expect(answer.status == 201, "\(answer)")
            // What the first writer still sends changes nothing, and its request ends.
            try? await first.send(TestFile.random(1_500_000).bytes, within: .seconds(3))
            if let ended = try? await first.finish(within: .seconds(10)) {
                #expect(ended.status == 409 && ended.code == "upload_superseded", "\(ended)")
            }
            #expect(try await b.download(id, as: ann).digest == file.digest)
        }

        @Test("the owner deletes an unfinished upload")
        func delete() async throws {
            let id = newID()
            _ = try await a.begin(id, TestFile.random(400_000).bytes, as: ann)
            #expect(try await b.delete(Attachments.path(id), as: ann).status == 204)
            #expect(try await a.progress(of: id, as: ann).status == 404)
            #expect(try await a.append(Data("x".utf8), to: id, at: 400_000, complete: true, as: ann).status == 404)
        }

        @Test("a node that stops ends its uploads, and another node continues at their offset")
        func shutdown() async throws {
            let pair = try await TestNodes.own(on: try await TestCluster.shared())
            let ann = try await pair.a.client.register("Ann")
            let file = TestFile.random(3_000_000)
            let id = newID()
            let upload = try await RawUpload.begin(
                Attachments.path(id), at: pair.a.address, as: ann, .length(file.count))
            try await upload.send(file.bytes.prefix(1_000_000))
            #expect(try await pair.a.stop().exit == .status(0))
            await upload.connection.close()
            let other = Connection(pair.b.address)
            let offset = try #require(try await other.progress(of: id, as: ann).offset)
            #expect(offset <= 1_000_000)
            let last = try await other.append(file.bytes[offset...], to: id, at: offset, complete: true, as: ann)
            #expect(last.status == 201, "\(last)")
            #expect(try await other.download(id, as: ann).digest == file.digest)
            try await pair.b.stop()
        }
    }
}
