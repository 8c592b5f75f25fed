// Downloads against a server and a network that fail.

import Foundation
import Testing

@testable import Parley

@Suite("A download", .timeLimit(.minutes(1)))
struct Downloads {
    private static let part = AttachmentDownload.partByteCountMax
    private static let large = sampleBytes(2 * part + 5)
    private let folder: URL
    private let target: URL

    init() throws {
        folder = try temporaryFolder()
        target = folder.appendingPathComponent("a.jpg")
    }

    private func server(_ bytes: Data = large, _ change: (inout FakeAttachments.State) -> Void = { _ in })
        -> FakeAttachments
    {
        FakeAttachments { state in
            state.bytes = bytes
            change(&state)
        }
    }

    private func save(from server: FakeAttachments, _ variant: AttachmentVariant = .original) async throws {
        try await AttachmentDownload(id: server.id, variant: variant).save(to: target, with: server.caller)
    }

    @Test("into memory is one call")
    func memory() async throws {
        let server = server()
        #expect(try await AttachmentDownload(id: server.id).data(with: server.caller) == Self.large)
        #expect(server.log == ["GET file"])
    }

    @Test("into a file is parts of a mebibyte, which the client confirms")
    func parts() async throws {
        let server = server()
        let steps = Locked<[Double]>([])
        try await AttachmentDownload(id: server.id).save(to: target, with: server.caller) { step in
            steps.withLock { $0.append(step) }
        }
        #expect(try Data(contentsOf: target) == Self.large)
        #expect(server.log == ["GET file", "GET file", "GET file", "POST received"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.jpg"])
        let seen = steps.withLock { $0 }
        #expect(seen == seen.sorted() && seen.last == 1 && seen.count == 3)
    }

    @Test("replaces what is there", arguments: [0, 1, part])
    func replaces(_ size: Int) async throws {
        try Data("old".utf8).write(to: target)
        let server = server(sampleBytes(size))
        try await save(from: server)
        #expect(try Data(contentsOf: target) == sampleBytes(size))
    }

    @Test("continues after a break at any call", arguments: 1...4)
    func breaks(_ number: Int) async throws {
        for fault in [FakeAttachments.Fault.before, .after, .answer(503, code: "unavailable")] {
            let server = server { $0.faults = [number: fault] }
            let error = await #expect(throws: ParleyError.self) { try await save(from: server) }
            #expect(error?.isTemporary == true)
            try await save(from: server)
            #expect(try Data(contentsOf: target) == Self.large)
            #expect(server.log.count == 5)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.jpg"])
        }
    }

    @Test("begins again if the file is another one", arguments: [3 * part, 10])
    func changed(_ size: Int) async throws {
        let server = server { $0.faults = [2: .before] }
        await #expect(throws: ParleyError.self) { try await save(from: server) }
        let other = sampleBytes(size + 1).dropFirst()
        server.state.withLock { state in
            state.bytes = Data(other)
            state.tag = "\"two\""
        }
        try await save(from: server)
        #expect(try Data(contentsOf: target) == other)
    }

    @Test("begins again if its description is lost or damaged")
    func damaged() async throws {
        let server = server { $0.faults = [2: .before, 4: .before] }
        await #expect(throws: ParleyError.self) { try await save(from: server) }
        let description = folder.appendingPathComponent("a.jpg.part.json")
        #expect(FileManager.default.fileExists(atPath: description.path))
        try Data("{".utf8).write(to: description)
        await #expect(throws: ParleyError.self) { try await save(from: server) }
        try FileManager.default.removeItem(at: description)
        try await save(from: server)
        #expect(try Data(contentsOf: target) == Self.large)
    }

    @Test("of a thumbnail is not confirmed")
    func thumbnail() async throws {
        let server = server(Data("small".utf8))
        try await save(from: server, .thumbnail)
        #expect(server.log == ["GET thumbnail"])
        #expect(try Data(contentsOf: target) == Data("small".utf8))
    }

    @Test("from an object store sends no token there, and asks again when the address has expired")
    func elsewhere() async throws {
        let server = server { $0.elsewhere = "https://bucket/a?signature=1" }
        #expect(try await AttachmentDownload(id: server.id).data(with: server.caller) == Self.large)
        #expect(server.log == ["GET file", "GET a", "POST received"])
        let download = AttachmentDownload(id: server.id)
        try await download.save(to: target, with: server.caller) { _ in
            server.state.withLock { $0.elsewhere = "https://bucket/a?signature=2" }
        }
        #expect(try Data(contentsOf: target) == Self.large)
        #expect(
            server.log.dropFirst(3) == ["GET file", "GET a", "GET a", "GET file", "GET a", "GET a", "POST received"])
        #expect(server.state.withLock { $0.tokens["bucket"] } == .some(nil))
        #expect(server.state.withLock { $0.tokens[""] } == "Bearer secret")
    }

    @Test("is complete even if the message is gone before it is confirmed")
    func unconfirmed() async throws {
        let server = server { $0.faults = [4: .answer(404, code: "attachment_not_found")] }
        try await save(from: server)
        #expect(try Data(contentsOf: target) == Self.large)
    }

    @Test("ends with a refusal", arguments: [404, 409, 401])
    func refused(_ status: Int) async throws {
        let server = server { $0.faults = [2: .answer(status, code: "x")] }
        let error = await #expect(throws: ParleyError.self) { try await save(from: server) }
        #expect(error?.isTemporary == false)
        #expect(!FileManager.default.fileExists(atPath: target.path))
    }

    @Test("into a folder that does not exist fails with the reason")
    func unwritable() async throws {
        let server = server()
        let download = AttachmentDownload(id: server.id)
        let absent = folder.appendingPathComponent("no/a.jpg")
        let error = await #expect(throws: ParleyError.self) { try await download.save(to: absent, with: server.caller) }
        #expect(error?.kind == .fileUnwritable && error?.cause is CocoaError)
    }
}
