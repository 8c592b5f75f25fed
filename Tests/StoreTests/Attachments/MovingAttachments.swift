// Moves between PostgreSQL and the object store, and the list of keys to delete, as the database keeps them.
import Domain
import Store
import TestSupport
import Testing

@Suite("Moving attachments", .timeLimit(.minutes(1)))
struct MovingAttachments {
    private func move(_ database: AttachmentDatabase) async throws -> AttachmentMove {
        try #require(try await database.store.claimMoves(toObjectStore: true, limit: 1, leaseSeconds: 60).first)
    }

    @Test("to the object store and back, with each key in the list while it is written")
    func moves() async throws {
        try await AttachmentDatabase.run { database in
            let (store, owner) = (database.store, try await database.user())
            let file = try await database.attachment(of: owner)
            let thumbnail = StoredVariant(mediaType: "image/png", byteCount: 1, digest: [9])
            _ = try await store.putThumbnail([9], thumbnail, of: file, owner: owner, rules: AttachmentDatabase.rules)
            #expect(try await store.claimMoves(toObjectStore: false, limit: 9, leaseSeconds: 60).isEmpty)
            let out = try await move(database)
            #expect(out.variants.map(\.variant) == [.original, .thumbnail])
            #expect(out.variants.map(\.byteCount) == [7, 1] && out.variants.map(\.digest) == [[2], [9]])
            #expect(
                try await database.sql("select key from attachment_garbage order by key") == """
                    parley/\(file)/0
                    parley/\(file)/1
                    """)
            #expect(try await store.claimGarbage(limit: 9, leaseSeconds: 60).isEmpty)
            #expect(try await store.finishMove(out, toObjectStore: true))
            #expect(try await database.sql("select count(*) from attachment_chunks") == "0")
            #expect(try await store.attachmentPlaces() == (here: 0, moved: 1, garbage: 0))
            #expect(try await store.openAttachment(file, variant: .thumbnail, for: .user(owner)).isInObjectStore)
            #expect(try await store.chunk(0, of: .original, file) == nil)

            try await store.setAttachmentPlace(toObjectStore: false)
            #expect(try await store.claimMoves(toObjectStore: true, limit: 9, leaseSeconds: 60).isEmpty)
            let back = try #require(try await store.claimMoves(toObjectStore: false, limit: 9, leaseSeconds: 60).first)
            try await store.restoreChunk(Array("picture".utf8), number: 0, of: .original, back)
            try await store.restoreChunk([9], number: 0, of: .thumbnail, back)
            #expect(try await store.finishMove(back, toObjectStore: false))
            #expect(try await store.attachmentPlaces() == (here: 1, moved: 0, garbage: 2))
            #expect(try await database.bytes(of: file) == Array("picture".utf8))
            #expect(try await store.claimGarbage(limit: 9, leaseSeconds: 60).isEmpty, "downloads under way end first")
        }
    }

    @Test("a move is void after the deletion, a later claim, or a deletion of its key that has begun")
    func voidMoves() async throws {
        try await AttachmentDatabase.run { database in
            let (store, owner) = (database.store, try await database.user())
            let file = try await database.attachment(of: owner)
            let first = try await move(database)
            try await database.sql(
                "update attachments set lease_until = now(); update attachment_garbage set next_at = now()")
            #expect(
                try await store.claimMoves(toObjectStore: true, limit: 9, leaseSeconds: 60).isEmpty,
                "its keys are still to be deleted")
            #expect(try await store.claimGarbage(limit: 9, leaseSeconds: 60) == ["parley/\(file)/0"])
            #expect(try await !store.finishMove(first, toObjectStore: true))
            try await store.forgetGarbage(["parley/\(file)/0"])
            let second = try await move(database)
            #expect(try await !store.finishMove(first, toObjectStore: true))
            try await store.deleteAttachment(file, owner: owner)
            try await database.sweep()
            #expect(try await !store.finishMove(second, toObjectStore: true))
            #expect(try await store.claimGarbage(limit: 9, leaseSeconds: 60) == ["parley/\(file)/0"])
            #expect(try await store.claimGarbage(limit: 9, leaseSeconds: 60).isEmpty)
        }
    }

    @Test("the keys of a deleted file are due at once, and a replaced thumbnail's before it is written again")
    func deleted() async throws {
        try await AttachmentDatabase.run { database in
            let (store, owner) = (database.store, try await database.user())
            let file = try await database.attachment(of: owner)
            let thumbnail = StoredVariant(mediaType: "image/png", byteCount: 1, digest: [9])
            _ = try await store.putThumbnail([9], thumbnail, of: file, owner: owner, rules: AttachmentDatabase.rules)
            #expect(try await store.finishMove(try await move(database), toObjectStore: true))
            let other = StoredVariant(mediaType: "image/png", byteCount: 1, digest: [8])
            _ = try await store.putThumbnail([8], other, of: file, owner: owner, rules: AttachmentDatabase.rules)
            #expect(try await database.bytes(of: file, .thumbnail) == [8])
            #expect(try await store.claimMoves(toObjectStore: true, limit: 9, leaseSeconds: 60).isEmpty)
            #expect(try await store.claimGarbage(limit: 9, leaseSeconds: 60) == ["parley/\(file)/1"])
            try await store.forgetGarbage(["parley/\(file)/1"])
            let again = try await move(database)
            #expect(again.variants.map(\.variant) == [.thumbnail])
            #expect(try await store.finishMove(again, toObjectStore: true))
            try await store.deleteAttachment(file, owner: owner)
            try await database.sweep()
            #expect(
                try await store.claimGarbage(limit: 9, leaseSeconds: 60).sorted()
                    == ["parley/\(file)/0", "parley/\(file)/1"])
        }
    }
}
