// Uploads against a server and a network that fail.

import Foundation
import Testing

@testable import Parley

@Suite("An upload", .timeLimit(.minutes(1)))
struct Uploads {
    private static let part = AttachmentUpload.partByteCountMax
    private static let large = sampleBytes(3 * part + 5)
    private let large = Self.large

    private func upload(_ server: FakeAttachments, _ source: UploadSource) -> AttachmentUpload {
        var upload = AttachmentUpload(id: server.id, source: source, name: "a")
        upload.pause = { _ in }
        return upload
    }

    /// Runs until the upload is done, as the outbox does.
    private func repeated(_ upload: AttachmentUpload, _ server: FakeAttachments) async throws {
        for _ in 0..<20 {
            do {
                _ = try await upload.run(with: server.caller)
                return
            } catch let error as ParleyError where error.isTemporary {}
        }
        Issue.record("The upload does not end: \(server.log)")
    }

    @Test("of at most a mebibyte is one call", arguments: [0, 1, part])
    func small(_ size: Int) async throws {
        let server = FakeAttachments()
        let bytes = sampleBytes(size)
        #expect(try await upload(server, .data(bytes)).run(with: server.caller).size == size)
        #expect(server.state.withLock { $0.bytes } == bytes)
        #expect(server.log == ["PUT file \(size)"])
    }

    @Test("of more is parts of a mebibyte")
    func parts() async throws {
        let server = FakeAttachments()
        let file = try temporaryFolder().appendingPathComponent("a")
        try large.write(to: file)
        let steps = Locked<[Double]>([])
        _ = try await upload(server, .file(file)).run(with: server.caller) { step in
            steps.withLock { $0.append(step) }
        }
        #expect(server.state.withLock { $0.bytes } == large)
        let part = Self.part
        #expect(
            server.log == [
                "HEAD upload", "PUT file \(part)", "PATCH upload \(part)", "PATCH upload \(part)", "PATCH upload 5",
            ])
        #expect(server.state.withLock { $0.length } == large.count)
        let seen = steps.withLock { $0 }
        #expect(seen == seen.sorted() && seen.first == 0 && seen.last == 1 && seen.count == 5)
    }

    @Test("is complete after a break at any call", arguments: 1...6)
    func breaks(_ number: Int) async throws {
        for fault in [
            FakeAttachments.Fault.before, .after, .during(1000), .during(0), .answer(503, code: "unavailable"),
        ] {
            let server = FakeAttachments { $0.faults = [number: fault, number + 2: fault] }
            try await repeated(upload(server, .data(large)), server)
            #expect(server.state.withLock { $0.bytes } == large, "\(fault)")
        }
        let server = FakeAttachments { $0.faults = [1: .after] }
        try await repeated(upload(server, .data(sampleBytes(10))), server)
        #expect(server.log == ["PUT file 10", "PUT file 10"])
    }

    @Test("sends nothing twice that the server has")
    func resumes() async throws {
        let server = FakeAttachments { $0.faults = [3: .during(1000)] }
        let upload = upload(server, .data(large))
        await #expect(throws: ParleyError.noAnswer("cut")) { try await upload.run(with: server.caller) }
        _ = try await upload.run(with: server.caller)
        #expect(server.state.withLock { $0.bytes } == large)
        let part = Self.part
        #expect(
            server.log.dropFirst(3) == [
                "HEAD upload", "PATCH upload \(part)", "PATCH upload \(large.count - 2 * part - 1000)",
            ])
    }

    @Test("asks for the offset after a conflict", arguments: ["upload_offset_mismatch", "upload_superseded"])
    func conflict(_ code: String) async throws {
        let server = FakeAttachments { $0.faults = [3: .answer(409, code: code)] }
        _ = try await upload(server, .data(large)).run(with: server.caller)
        #expect(server.state.withLock { $0.bytes } == large)
        #expect(server.log[3] == "HEAD upload")
    }

    @Test("that is complete already asks only for its description")
    func complete() async throws {
        let server = FakeAttachments()
        _ = try await upload(server, .data(large)).run(with: server.caller)
        let count = server.log.count
        _ = try await upload(server, .data(large)).run(with: server.caller)
        #expect(server.log.dropFirst(count) == ["HEAD upload", "GET info"])
    }

    @Test("begins again if the server has deleted it")
    func forgotten() async throws {
        let server = FakeAttachments { $0.faults = [4: .answer(404, code: "attachment_not_found")] }
        // This server still has the bytes, and answers the new beginning with a conflict.
        _ = try await upload(server, .data(large)).run(with: server.caller)
        #expect(server.log[4] == "PUT file \(Self.part)")
        #expect(server.state.withLock { $0.bytes } == large)
    }

    @Test("begins again if the file has another size than the upload")
    func changed() async throws {
        let server = FakeAttachments { state in
            state.bytes = Data("other".utf8)
            state.length = 99
        }
        _ = try await upload(server, .data(large)).run(with: server.caller)
        #expect(server.log.prefix(3) == ["HEAD upload", "DELETE file", "PUT file \(Self.part)"])
        #expect(server.state.withLock { $0.bytes } == large)
    }

    @Test(
        "ends with a final refusal",
        arguments: [
            (409, "id_taken"), (403, "quota_exceeded"), (413, "attachment_too_large"), (409, "attachment_refused"),
        ])
    func refused(_ status: Int, _ code: String) async throws {
        for (size, number) in [(10, 1), (large.count, 2), (large.count, 3)] {
            let server = FakeAttachments { $0.faults = [number: .answer(status, code: code)] }
            let upload = upload(server, .data(large.prefix(size)))
            let error = await #expect(throws: ParleyError.self) { try await upload.run(with: server.caller) }
            #expect(error?.code?.rawValue == code && error?.isTemporary == false)
            #expect(server.log.count == number)
        }
    }

    @Test("that does not move forward is left to a later run")
    func stalled() async throws {
        let server = FakeAttachments { state in
            for number in 2...50 { state.faults[number] = .answer(409, code: "upload_superseded") }
            for number in stride(from: 3, through: 49, by: 2) { state.faults[number] = nil }
        }
        let upload = upload(server, .data(large))
        let error = await #expect(throws: ParleyError.self) { try await upload.run(with: server.caller) }
        #expect(error?.isTemporary == true)
        #expect(server.log.count < 12)
    }

    @Test("waits while the server checks the file")
    func checks() async throws {
        let server = FakeAttachments { $0.states = [.checking, .checking, .checking, .ready] }
        var upload = upload(server, .data(Data("a".utf8)))
        let waits = Locked<[Duration]>([])
        upload.pause = { wait in waits.withLock { $0.append(wait) } }
        #expect(try await upload.run(with: server.caller).state == .ready)
        #expect(waits.withLock { $0 } == [.milliseconds(500), .seconds(1), .seconds(2)])
    }

    @Test("fails finally if the virus scanner refuses the file, and not while the scanner is down")
    func scanner() async throws {
        for (states, isFinal) in [([AttachmentState.checking, .refused], true), ([.checking], false)] {
            let server = FakeAttachments { $0.states = states }
            let upload = upload(server, .data(Data("a".utf8)))
            let error = await #expect(throws: ParleyError.self) { try await upload.run(with: server.caller) }
            #expect(error?.isTemporary == !isFinal)
            #expect(error?.code == (isFinal ? "attachment_refused" : nil))
        }
    }

    @Test("of a file that is missing or became shorter fails with the reason")
    func unreadable() async throws {
        let server = FakeAttachments()
        let file = try temporaryFolder().appendingPathComponent("a")
        let missing = upload(server, .file(file))
        await #expect(throws: ParleyError.self) { try await missing.run(with: server.caller) }
        #expect(server.log.isEmpty)
        try large.write(to: file)
        #expect(throws: ParleyError.self) { try UploadSource.file(file).read(10, at: large.count - 5) }
        #expect(try UploadSource.file(file).read(10, at: 7) == large.subdata(in: 7..<17))
        #expect(try UploadSource.data(large.dropFirst(5)).read(10, at: 2) == large.subdata(in: 7..<17))
    }

    @Test("ends when its task is cancelled")
    func cancelled() async throws {
        let server = FakeAttachments { $0.states = [.checking] }
        let upload = AttachmentUpload(id: server.id, source: .data(Data("a".utf8)))
        let caller = server.caller
        let task = Task { try await upload.run(with: caller) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
