// When the bytes of attachments leave the database, and that nothing of them is left.
import Domain
import Foundation
import Store
import TestSupport
import Testing

@Suite("Deleting attachments", .timeLimit(.minutes(1)))
struct DeletingAttachments {
    /// A dump of all data, as text.
    private func dump(_ database: AttachmentDatabase) async throws -> String {
        let bytes = try Tool.run(["pg_dump", "--data-only", "--inserts", database.conninfo])
        return String(decoding: bytes, as: UTF8.self)
    }

    private func hex(_ text: String) -> String { text.utf8.map { String($0, radix: 16) }.joined() }

    @Test("a dump has no byte, name or thumbhash of a file whose message was deleted")
    func dumped() async throws {
        try await AttachmentDatabase.run { database in
            let (owner, member) = (try await database.user(), try await database.user())
            let thread = try await database.thread(of: owner, [member])
            let secret = "the secret of the file"
            let bytes = Array((String(repeating: "x", count: 300_000) + secret).utf8)
            let job = try await database.uploaded(bytes, by: owner)
            try await database.store.putChunk(Array("clean ".utf8) + Array(secret.utf8), number: 0, of: .cleaned, job)
            try await database.store.putChunk(Array(secret.utf8), number: 0, of: .thumbnail, job)
            var result = AttachmentDatabase.checked(bytes)
            result.thumbhash = Array(secret.utf8)
            try await database.store.finishAttachment(job, result)
            let message = try await database.send([job.attachment], to: thread, by: owner)
            _ = try await database.store.editMessage(
                message, in: thread, by: owner, payload: AttachmentDatabase.payload([job.attachment], text: "ho"))
            let before = try await dump(database)
            #expect(before.contains(hex(secret)) && before.contains(Data(secret.utf8).base64EncodedString()))
            try await database.store.deleteMessage(message, in: thread, by: owner)
            try await database.sweep()
            let after = try await dump(database)
            for trace in [hex(secret), Data(secret.utf8).base64EncodedString(), "a.png", "\(job.attachment)"] {
                #expect(!after.contains(trace), "\(trace)")
            }
        }
    }

    @Test("unused ones go after their time, unfinished ones after their last byte, in bounded parts")
    func expiry() async throws {
        try await AttachmentDatabase.run { database in
            let owner = try await database.user()
            let used = try await database.attachment(of: owner)
            try await database.send([used], to: try await database.thread(of: owner), by: owner)
            _ = try await database.attachment(of: owner)
            let checking = try await database.uploaded([1], by: owner).attachment
            let unfinished = AttachmentID.make()
            guard
                case .receiving(var claim) = try await database.store.beginUpload(
                    unfinished, owner: owner, name: "", declaredType: nil, length: nil, rules: AttachmentDatabase.rules)
            else { return }
            try await database.append([UInt8](repeating: 1, count: 20_000_000), to: &claim)
            #expect(try await database.store.sweepAttachments(limit: 10) == 0)
            try await database.sql("update attachments set due_at = now() where due_at < 'infinity'")
            // The upload has received bytes since; the unused one goes.
            try await database.sweep()
            #expect(try await database.sql("select count(*) from attachments") == "3")
            try await database.sql(
                "update attachments set due_at = now(), received_at = now() - interval '25 h' where state = 0")
            #expect(try await database.store.sweepAttachments(limit: 10) == 1)
            #expect(
                try await database.sql("select count(*) from attachment_chunks where attachment_id = '\(unfinished)'")
                    == "13")
            await #expect(throws: Problem.attachmentNotFound) {
                _ = try await database.store.uploadProgress(unfinished, owner: owner)
            }
            try await database.sweep()
            let left = try await database.sql("select count(*) from attachments where id in ('\(used)', '\(checking)')")
            #expect(left == "2")
            #expect(try await database.sql("select count(*) from attachments") == "2")
        }
    }

    @Test("of a send and a sweep that meet, exactly one wins", arguments: 0..<3)
    func races(_ round: Int) async throws {
        try await AttachmentDatabase.run { database in
            let owner = try await database.user()
            let thread = try await database.thread(of: owner)
            var files: [AttachmentID] = []
            for _ in 0..<20 { files.append(try await database.attachment(of: owner)) }
            try await database.sql("update attachments set due_at = now()")
            async let swept: Void = database.sweep()
            let sent = try await withThrowingTaskGroup(of: AttachmentID?.self) { group in
                for file in files {
                    group.addTask {
                        do {
                            try await database.send([file], to: thread, by: owner)
                            return file
                        } catch let problem as Problem where problem.code == .invalid {
                            return nil
                        }
                    }
                }
                return try await group.reduce(into: [AttachmentID]()) { if let file = $1 { $0.append(file) } }
            }
            try await swept
            try await database.sweep()
            let kept = try await database.sql("select id from attachments where state = 2 order by id")
            #expect(kept == sent.sorted().map(\.description).joined(separator: "\n"))
            for file in sent { #expect(try await database.bytes(of: file).count == 7) }
            #expect(try await database.sql("select count(*) from attachment_chunks") == "\(sent.count)")
        }
    }

    @Test("two uses that are deleted at the same time leave no file behind")
    func lastUses() async throws {
        try await AttachmentDatabase.run { database in
            let owner = try await database.user()
            let file = try await database.attachment(of: owner)
            var messages: [(thread: ThreadID, message: MessageID)] = []
            for _ in 0..<8 {
                let thread = try await database.thread(of: owner)
                messages.append((thread, try await database.send([file], to: thread, by: owner)))
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (thread, message) in messages {
                    group.addTask { try await database.store.deleteMessage(message, in: thread, by: owner) }
                }
                try await group.waitForAll()
            }
            #expect(try await database.sql("select state from attachments") == "4")
        }
    }

    @Test("an erased account's unused files and unfinished uploads go, those in messages that stay do not")
    func erasure() async throws {
        try await AttachmentDatabase.run { database in
            let (owner, member) = (try await database.user(), try await database.user())
            let thread = try await database.thread(of: owner, [member])
            let used = try await database.attachment(of: owner)
            try await database.send([used], to: thread, by: owner)
            _ = try await database.attachment(of: owner)
            _ = try await database.uploaded([1], by: owner)
            _ = try await database.store.beginUpload(
                .make(), owner: owner, name: "", declaredType: nil, length: nil, rules: AttachmentDatabase.rules)
            let lines = try await database.store.export(.attachments, of: owner, after: nil, limit: 10)
            #expect(lines.count == 4)
            #expect(String(decoding: lines[0].line.utf8, as: UTF8.self).contains(#""name": "a.png""#))
            #expect(try await database.store.export(.attachments, of: owner, after: lines[1].key, limit: 10).count == 2)
            _ = try await database.store.eraseAccount(owner, erasesMessages: false)
            while try await database.store.sweepErasures(limit: 100) {}
            try await database.sweep()
            #expect(try await database.sql("select id from attachments") == "\(used)")
            #expect(try await database.refusal(of: used, to: member) == nil)
            await #expect {
                _ = try await database.store.beginUpload(
                    .make(), owner: owner, name: "", declaredType: nil, length: nil, rules: AttachmentDatabase.rules)
            } throws: {
                ($0 as? Problem)?.code == .invalidToken
            }
        }
    }
}
