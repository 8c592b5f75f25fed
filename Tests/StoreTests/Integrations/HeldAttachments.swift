// The files of held messages: gone for everyone, their bytes kept until the release.
import Domain
import Store
import TestSupport
import Testing

@Suite("Attachments of held messages", .timeLimit(.minutes(1)))
struct HeldAttachments {
    @Test("are as deleted to everyone and to the quota, and go with the release", arguments: Removal.allCases)
    func hidden(_ removal: Removal) async throws {
        try await HoldDatabase.run { database in
            let (base, ann, ben) = (database.base, database.ann, database.ben)
            let file = try await base.attachment(of: ann)
            let message = try await base.send([file], to: database.thread, by: ann)
            let hold = try await database.hold(.thread(database.thread))
            try await database.remove(message, by: removal)
            // An edited message still has the file for the earlier version.
            if removal == .edit { try await database.remove(message, by: .deletion) }
            try await base.sweep()
            #expect(try await database.sql("select state, stored_bytes from attachments") == "5|0")
            #expect(try await base.bytes(of: file) == Array("picture".utf8))
            for user in [ann, ben] {
                #expect(try await base.refusal(of: file, to: user) == .attachmentNotFound)
                await #expect(throws: Problem.self) { _ = try await base.store.attachment(file, for: user) }
            }
            #expect(try await base.store.export(.attachments, of: ann, after: nil, limit: 10).isEmpty)
            let page = try await base.store.heldContents(hold, after: 0, limit: 10, by: HoldDatabase.admin)
            let texts = page.items.map { String(decoding: $0.utf8, as: UTF8.self) }
            #expect(texts.contains { $0.contains(#""attachments":[{"id" : "\#(file)""#) && $0.contains("sha256") })
            try await database.release(hold)
            #expect(try await database.sql("select count(*) from attachments") == "0")
            #expect(try await database.sql("select count(*) from attachment_chunks") == "0")
        }
    }

    @Test("cannot be sent again, deleted or replaced by an upload with the same id")
    func reuse() async throws {
        try await HoldDatabase.run { database in
            let (base, ann) = (database.base, database.ann)
            let file = try await base.attachment(of: ann)
            let message = try await base.send([file], to: database.thread, by: ann)
            try await database.hold(.user(ann))
            try await database.remove(message, by: .deletion)
            let other = try await base.thread(of: ann)
            await #expect { try await base.send([file], to: other, by: ann) } throws: {
                ($0 as? Problem)?.code == .invalid
            }
            await #expect(throws: Problem.attachmentNotFound) {
                try await base.store.deleteAttachment(file, owner: ann)
            }
            await #expect {
                _ = try await base.store.beginUpload(
                    file, owner: ann, name: "", declaredType: nil, length: nil, rules: AttachmentDatabase.rules)
            } throws: { ($0 as? Problem)?.code == .idTaken }
            #expect(try await base.bytes(of: file) == Array("picture".utf8))
        }
    }

    @Test("stay visible while another message has them, and go with the last use and the last hold")
    func shared() async throws {
        try await HoldDatabase.run { database in
            let (base, ann, ben) = (database.base, database.ann, database.ben)
            let file = try await base.attachment(of: ann)
            let free = try await base.thread(of: ann, [ben])
            let message = try await base.send([file], to: database.thread, by: ann)
            let copy = try await base.send([file], to: free, by: ann)
            let hold = try await database.hold(.thread(database.thread))
            try await database.remove(message, by: .deletion)
            #expect(try await base.refusal(of: file, to: ben) == nil)
            try await base.store.deleteMessage(copy, in: free, by: ann)
            try await base.sweep()
            #expect(try await base.refusal(of: file, to: ben) == .attachmentNotFound)
            #expect(try await base.bytes(of: file).count == 7)
            try await database.release(hold)
            #expect(try await database.sql("select count(*) from attachments") == "0")
        }
    }

    @Test("move to the object store and back as others do")
    func moving() async throws {
        try await HoldDatabase.run { database in
            let file = try await database.base.attachment(of: database.ann)
            let message = try await database.base.send([file], to: database.thread, by: database.ann)
            try await database.hold(.thread(database.thread))
            try await database.remove(message, by: .deletion)
            let claim = "select id from attachment_move_claim(true, 10, 60)"
            #expect(try await database.sql(claim) == "\(file)")
            let ended = try await database.sql(
                "select attachment_move_end(id, claim, '{0}', true) from attachments; select attachment_places()")
            #expect(ended == "t\n(0,1,0)")
        }
    }
}
