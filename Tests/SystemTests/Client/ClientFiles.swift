// Files that go up with messages and come down, over breaks of the network and of nodes.

import Foundation
import Parley
import Synchronization
import TestSupport
import Testing

extension SystemTests {
    @Suite("The client's files", .timeLimit(.minutes(3)))
    struct ClientFiles {
        private func bytes(_ count: Int) -> Data {
            Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        }

        /// The description of the only file of a sent message.
        private func sentFile(_ message: OutgoingMessage, in pair: AnnAndBen) async throws -> SentFile {
            try await message.states.wait("sent") { if case .sent = $0 { true } else { false } }
            let rows = try await Shown(pair.thread.timeline(around: .newest)).wait("the message") {
                $0.contains { $0.message?.id == message.id }
            }
            return try #require(rows.first { $0.message?.id == message.id }?.message?.attachments.first)
        }

        @Test("files and data go up, and the app may delete a file as soon as send returns")
        func sends() async throws {
            let pair = try await AnnAndBen.meet()
            let file = URL(filePath: pair.device.directory.path + "/photo.bin")
            let content = bytes(300_000)
            try content.write(to: file)
            try await pair.device.goOffline()
            let message = try await pair.thread.send(
                .text("Look"), attachments: [.file(file), .data(Data("tiny".utf8), name: "tiny.txt")])
            try FileManager.default.removeItem(at: file)
            try await pair.device.goOnline()
            let sent = try await sentFile(message, in: pair)
            #expect(sent.name == "photo.bin" && sent.size == 300_000)
            #expect(try await pair.parley.data(of: sent.id) == content)
            let copies = pair.device.directory.path + "/store/outbox"
            try await eventually("no copies") {
                try FileManager.default.contentsOfDirectory(atPath: copies).isEmpty
            }
            await #expect(throws: ParleyError.self) { try await pair.thread.send(.files, attachments: [.file(file)]) }
            let outbox = Shown(pair.parley.outbox())
            try await outbox.wait("an empty outbox") { $0.isEmpty }
        }

        @Test("an upload that a killed node broke off continues where it stopped, with growing progress")
        func resumes() async throws {
            let nodes = try await RestartableNodes.start(1, on: try await MigratedDatabase.create())
            let pair = try await AnnAndBen.meet(at: nodes.addresses[0])
            let content = bytes(4 << 20)
            pair.wire.meet("PATCH", "/upload", after: 1, with: .holdRequest)
            let message = try await pair.thread.send(.files, attachments: [.data(content, name: "film.bin")])
            let progress = Mutex<[Double]>([])
            let following = Task { [states = message.states] in
                for await state in states {
                    if case .uploading(let part) = state { progress.withLock { $0.append(part) } }
                }
            }
            try await pair.wire.wait(for: 2, "PATCH", "/upload")
            try await nodes.kill(0)
            pair.wire.release()
            try await nodes.restart(0)
            let sent = try await sentFile(message, in: pair)
            following.cancel()
            let parts = pair.wire.sent("PATCH", "/upload") + pair.wire.sent("PUT", sent.id.rawValue)
            let arrived = parts.filter { $0.status != nil }.reduce(0) { $0 + ($1.request.body?.count ?? 0) }
            #expect(arrived == content.count, "No byte arrived twice.")
            #expect(try await pair.parley.data(of: sent.id) == content)
            let seen = progress.withLock { $0 }
            #expect(seen == seen.sorted() && seen.count > 1, "\(seen)")
            try await nodes.stopAll()
        }

        @Test("a file that the server has forgotten is uploaded again")
        func expired() async throws {
            let pair = try await AnnAndBen.meet()
            pair.wire.meet("POST", "/messages", with: .holdRequest)
            let message = try await pair.thread.send(.text("Look"), attachments: [.data(Data("x".utf8), name: "x.txt")])
            try await pair.wire.wait("POST", "/messages")
            let id = try #require(message.files.first?.id.rawValue)
            #expect(try await pair.server.delete("/v1/attachments/\(id)", as: pair.ann).status == 204)
            pair.wire.release()
            let sent = try await sentFile(message, in: pair)
            #expect(try await pair.parley.data(of: sent.id) == Data("x".utf8))
        }

        @Test("a download continues where it stopped, and a file is forwarded without an upload")
        func downloads() async throws {
            let pair = try await AnnAndBen.meet()
            let content = bytes(3_500_000)
            let message = try await pair.thread.send(.files, attachments: [.data(content, name: "film.bin")])
            let sent = try await sentFile(message, in: pair)
            let target = URL(filePath: pair.device.directory.path + "/film.bin")
            pair.wire.meet("GET", sent.id.rawValue, after: 2, with: .loseAnswer)
            await #expect(throws: ParleyError.self) { try await pair.parley.save(sent.id, to: target) }
            #expect(!FileManager.default.fileExists(atPath: target.path))
            let first = Mutex<Double?>(nil)
            try await pair.parley.save(sent.id, to: target) { part in first.withLock { $0 = $0 ?? part } }
            #expect(try Data(contentsOf: target) == content)
            #expect(first.withLock { $0 } ?? 0 > 0.8, "The first two parts are not fetched again.")

            let uploads = pair.wire.sent("PUT", sent.id.rawValue).count
            let forwarded = try await pair.thread.send(.text("Again"), attachments: [.attachment(sent)])
            #expect(try await sentFile(forwarded, in: pair).id == sent.id)
            #expect(pair.wire.sent("PUT", sent.id.rawValue).count == uploads)
        }

        @Test("a message whose upload runs can be cancelled, and its copy goes")
        func cancels() async throws {
            let pair = try await AnnAndBen.meet()
            pair.wire.meet("PATCH", "/upload", with: .holdRequest)
            let message = try await pair.thread.send(.files, attachments: [.data(bytes(2 << 20), name: "film.bin")])
            try await pair.wire.wait("PATCH", "/upload")
            #expect(try await message.cancel())
            pair.wire.release()
            let next = try await pair.thread.send(.text("Next"))
            try await next.states.wait("sent") { $0 == .sent(1) }
            #expect(try await pair.storedTexts() == ["Next"])
            let copies = try FileManager.default.contentsOfDirectory(
                atPath: pair.device.directory.path + "/store/outbox")
            #expect(copies.isEmpty)
        }
    }
}
