// From complete to ready or refused: claims, cleaned bytes, thumbnails.
import Domain
import Store
import TestSupport
import Testing

@Suite("Checking attachments", .timeLimit(.minutes(1)))
struct CheckingAttachments {
    @Test("is claimed by one node at a time, and by another when the lease has ended")
    func claims() async throws {
        try await AttachmentDatabase.run { database in
            let store = database.store
            let job = try await database.uploaded([1, 2, 3], by: try await database.user())
            #expect(job.byteCount == 3 && job.declaredType == "image/png")
            #expect(try await store.claimAttachment(job.attachment, leaseSeconds: 60) == nil)
            #expect(try await store.claimAttachments(limit: 10, leaseSeconds: 60).isEmpty)
            try await database.sql("update attachments set lease_until = now()")
            let next = try #require(try await store.claimAttachments(limit: 10, leaseSeconds: 60).first)
            for call in [
                { try await store.extendClaim(job, leaseSeconds: 60, uploadedDigest: nil) },
                { try await store.putChunk([1], number: 0, of: .cleaned, job) },
                { try await store.finishAttachment(job, AttachmentDatabase.checked([1])) },
                { try await store.refuseAttachment(job, reason: "x") },
                { try await store.postponeAttachment(job, seconds: 1) },
            ] as [@Sendable () async throws -> Void] {
                await #expect { try await call() } throws: { ($0 as? Problem)?.code == .uploadSuperseded }
            }
            try await store.postponeAttachment(next, seconds: 60)
            #expect(try await store.claimAttachment(job.attachment, leaseSeconds: 60) == nil)
        }
    }

    @Test("cleaned bytes take the original's place, without being written again")
    func cleaned() async throws {
        try await AttachmentDatabase.run { database in
            let owner = try await database.user()
            let job = try await database.uploaded([UInt8](repeating: 1, count: 600_000), by: owner)
            let clean = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 % 251) }
            // What an earlier claim left.
            for number in 0..<3 { try await database.store.putChunk([9], number: number, of: .cleaned, job) }
            for (number, start) in stride(from: 0, to: clean.count, by: AttachmentSizes.chunkByteCount).enumerated() {
                let chunk = Array(clean[start...].prefix(AttachmentSizes.chunkByteCount))
                try await database.store.putChunk(chunk, number: number, of: .cleaned, job)
            }
            var result = AttachmentDatabase.checked(clean)
            result.usesCleaned = true
            result.uploadedDigest = [5]
            (result.width, result.height, result.thumbhash) = (4, 3, [1, 2, 3])
            let toasted = """
                select sum(pg_stat_get_tuples_inserted(c.reltoastrelid)) from pg_class c
                where c.relname = 'attachment_chunks' and pg_stat_clear_snapshot() is not null
                """
            try await database.sql("select pg_stat_force_next_flush()")
            let before = try await database.sql(toasted)
            try await database.store.finishAttachment(job, result)
            #expect(try await database.bytes(of: job.attachment) == clean)
            #expect(try await database.sql(toasted) == before)
            #expect(
                try await database.sql("select string_agg(distinct variant::text, ',') from attachment_chunks") == "0")
            let shown = String(
                decoding: try await database.store.attachment(job.attachment, for: owner).utf8, as: UTF8.self)
            #expect(shown.contains(#""size":500000,"width":4,"height":3,"thumbhash":"AQID","thumbnail":false"#))
            guard
                case .complete(600_000, [5]?) = try await database.store.beginUpload(
                    job.attachment, owner: owner, name: "a", declaredType: nil, length: nil,
                    rules: AttachmentDatabase.rules)
            else {
                Issue.record("a repeated upload is compared with the bytes as uploaded")
                return
            }
        }
    }

    @Test("the owner's own thumbnail wins over the server's, before and after; once used it is final")
    func ownThumbnail() async throws {
        try await AttachmentDatabase.run { database in
            let (store, owner) = (database.store, try await database.user())
            let own = StoredVariant(mediaType: "image/webp", byteCount: 2, digest: [8])
            let job = try await database.uploaded([1], by: owner)
            _ = try await store.putThumbnail(
                [7, 7], own, of: job.attachment, owner: owner, rules: AttachmentDatabase.rules)
            try await store.putChunk([6, 6, 6], number: 0, of: .thumbnail, job)
            var result = AttachmentDatabase.checked([1])
            result.thumbnail = StoredVariant(mediaType: "image/jpeg", byteCount: 3, digest: [6])
            try await store.finishAttachment(job, result)
            let file = try await store.openAttachment(job.attachment, variant: .thumbnail, for: .user(owner))
            #expect(file.mediaType == "image/webp" && file.byteCount == 2 && file.digest == [8])
            #expect(try await database.bytes(of: job.attachment, .thumbnail) == [7, 7])

            let other = try await database.attachment(of: owner)
            await #expect {
                _ = try await store.openAttachment(other, variant: .thumbnail, for: .user(owner))
            } throws: {
                ($0 as? Problem)?.code == .attachmentNotFound
            }
            _ = try await store.putThumbnail([7, 7], own, of: other, owner: owner, rules: AttachmentDatabase.rules)
            #expect(try await database.bytes(of: other, .thumbnail) == [7, 7])
            try await database.send([other], to: try await database.thread(of: owner), by: owner)
            // The same again changes nothing.
            _ = try await store.putThumbnail([7, 7], own, of: other, owner: owner, rules: AttachmentDatabase.rules)
            let another = StoredVariant(mediaType: "image/webp", byteCount: 1, digest: [9])
            await #expect {
                _ = try await store.putThumbnail([5], another, of: other, owner: owner, rules: AttachmentDatabase.rules)
            } throws: {
                ($0 as? Problem)?.code == .attachmentInUse
            }
        }
    }

    @Test("a refused file leaves no bytes, a line in the audit log, and expires")
    func refused() async throws {
        try await AttachmentDatabase.run { database in
            let owner = try await database.user()
            let job = try await database.uploaded([1, 2, 3], by: owner)
            try await database.store.refuseAttachment(job, reason: "Eicar-Test-Signature")
            #expect(try await database.sql("select count(*) from attachment_chunks") == "0")
            #expect(
                try await database.sql("select action, user_id from audit")
                    == "attachment.refused: Eicar-Test-Signature|\(owner)")
            #expect(try await database.refusal(of: job.attachment, to: owner) == .attachmentRefused)
            #expect(try await database.refusal(of: job.attachment, to: .make()) == .attachmentNotFound)
            try await database.sql("update attachments set due_at = now()")
            try await database.sweep()
            #expect(try await database.sql("select count(*) from attachments") == "0")
        }
    }
}
