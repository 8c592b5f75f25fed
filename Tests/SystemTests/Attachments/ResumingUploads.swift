// Uploads that several nodes receive, and slow ones. APITests (UploadingFiles, ResumingUploads) have the rules.

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

        @Test("a second writer ends the first on another node")
        func secondWriter() async throws {
            let file = TestFile.random(2_000_000)
            let id = newID()
            _ = try await a.begin(id, length: file.count, as: ann)
            let first = try await RawUpload.resume(id, at: 0, of: file.count, on: nodes.a.address, as: ann)
            try await first.send(file.bytes.prefix(500_000))
            let offset = try await eventually("the offset") { () -> Int? in
                let answer = try await b.progress(of: id, as: ann)
                // The node keeps the begun chunk until it is full, or the request ends.
                return answer.offset == 262_144 ? answer.offset : nil
            }
            let answer = try await b.append(file.bytes[offset...], to: id, at: offset, complete: true, as: ann)
            #expect(answer.status == 201, "\(answer)")
            // What the first writer still sends changes nothing, and its request ends.
            try? await first.send(TestFile.random(1_500_000).bytes, within: .seconds(3))
            if let ended = try? await first.finish(within: .seconds(10)) {
                #expect(ended.status == 409 && ended.code == "upload_superseded", "\(ended)")
            }
            #expect(try await b.download(id, as: ann).digest == file.digest)
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

        @Test("less than 8 KiB/s over 30 s ends an upload and keeps its bytes; a little more does not")
        func slow() async throws {
            let (slowID, steadyID) = (newID(), newID())
            let file = TestFile.random(400_000)
            async let slow: Void = {
                let upload = try await RawUpload.begin(
                    Attachments.path(slowID), at: nodes.a.address, as: ann, .length(file.count))
                try await upload.send(file.bytes.prefix(50_000))
                let began = ContinuousClock.now
                let answer = try? await upload.connection.receive(within: .seconds(90))
                let took = began.duration(to: .now)
                #expect(took > .seconds(15) && took < .seconds(90), "\(took): \(String(describing: answer))")
                #expect(try await a.progress(of: slowID, as: ann).offset == 50_000)
            }()
            async let steady: Void = {
                let upload = try await RawUpload.begin(
                    Attachments.path(steadyID), at: nodes.a.address, as: ann, .length(file.count))
                // At most 12.5 KB/s, so more than 32 s.
                try await upload.send(file.bytes, pieces: 2_500, pause: .milliseconds(200))
                let answer = try await upload.finish()
                #expect(answer.status == 201, "\(answer)")
            }()
            _ = try await (slow, steady)
        }
    }
}
