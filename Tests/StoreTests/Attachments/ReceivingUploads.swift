// How the bytes of an upload arrive: by claims, at offsets, within the account's bounds.
import Domain
import Store
import TestSupport
import Testing

@Suite("Receiving uploads", .timeLimit(.minutes(2)))
struct ReceivingUploads {
    private typealias Upload = (id: AttachmentID, owner: UserID)

    private func begin(
        _ database: AttachmentDatabase, _ upload: Upload, length: Int? = nil,
        rules: UploadRules = AttachmentDatabase.rules
    ) async throws -> UploadClaim {
        guard
            case .receiving(let claim) = try await database.store.beginUpload(
                upload.id, owner: upload.owner, name: "a", declaredType: nil, length: length, rules: rules)
        else { throw Problem(.internalError, "The upload was complete before.") }
        return claim
    }

    private func resume(
        _ database: AttachmentDatabase, _ upload: Upload, at offset: Int, length: Int? = nil
    ) async throws -> UploadResumption {
        try await database.store.resumeUpload(
            upload.id, owner: upload.owner, offset: offset, length: length, rules: AttachmentDatabase.rules)
    }

    private func expect(
        _ code: ProblemCode, _ body: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let problem = await #expect(throws: Problem.self, sourceLocation: sourceLocation) { try await body() }
        #expect(problem?.code == code, sourceLocation: sourceLocation)
    }

    @Test("resumes in the middle of a chunk, at every cut, and has the right bytes")
    func cuts() async throws {
        try await AttachmentDatabase.run { database in
            var random = SplitMix64(freshFor: "uploads cut at random")
            let upload: Upload = (.make(), try await database.user())
            let bytes = (0..<1_000_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            var claim = try await begin(database, upload, length: bytes.count)
            while claim.offset < bytes.count {
                let piece = bytes[claim.offset...].prefix(1 + random.below(300_000))
                try await database.append(Array(piece), to: &claim)
                guard case .receiving(let next) = try await resume(database, upload, at: claim.offset) else {
                    Issue.record("offset \(claim.offset)")
                    return
                }
                claim = next
            }
            try await database.store.finishUpload(claim, rules: AttachmentDatabase.rules)
            #expect(try await database.bytes(of: upload.id) == bytes)
            #expect(try await database.store.uploadProgress(upload.id, owner: upload.owner).isComplete)
            guard case .complete = try await resume(database, upload, at: 0) else {
                Issue.record("a complete upload continues")
                return
            }
        }
    }

    @Test("single bytes do not write the chunk before them again, and end up in their places")
    func singleBytes() async throws {
        try await AttachmentDatabase.run { database in
            let upload: Upload = (.make(), try await database.user())
            var bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 9) }
            var claim = try await begin(database, upload)
            try await database.append(Array(bytes[..<520_000]), to: &claim)
            // A row that is written again has another version.
            let versions = """
                select string_agg(n || ' ' || xmin, ', ' order by n) from attachment_chunks where length(data) > 100000
                """
            let before = try await database.sql(versions)
            for _ in 0..<100 { try await database.store.append([bytes[claim.offset]], to: &claim, isDurable: true) }
            #expect(try await database.sql(versions) == before)
            // Over the end of the chunk, and up to the end of the file.
            try await database.append(Array(bytes[claim.offset..<699_990]), to: &claim)
            for _ in 0..<5 { try await database.store.append([bytes[claim.offset]], to: &claim, isDurable: true) }
            bytes.removeSubrange(claim.offset...)
            try await database.store.finishUpload(claim, rules: AttachmentDatabase.rules)
            #expect(try await database.bytes(of: upload.id) == bytes)
            let places = "select string_agg(variant || '/' || n, ' ' order by variant, n) from attachment_chunks"
            #expect(try await database.sql(places).contains("0/0 0/1 0/2"))
            #expect(try await database.sql("select count(*) from attachment_chunks").contains("3"))
        }
    }

    @Test("a later request ends an earlier one: continuing, beginning again, asking for the offset")
    func claims() async throws {
        try await AttachmentDatabase.run { database in
            let upload: Upload = (.make(), try await database.user())
            var first = try await begin(database, upload)
            try await database.store.append([1, 2, 3], to: &first, isDurable: false)
            guard case .receiving(var second) = try await resume(database, upload, at: 3) else {
                Issue.record("the offset is 3")
                return
            }
            await expect(.uploadSuperseded) { try await database.store.append([4], to: &first, isDurable: true) }
            try await database.store.append([4], to: &second, isDurable: true)
            guard case .offsetMismatch(4) = try await resume(database, upload, at: 3) else {
                Issue.record("the offset is 4")
                return
            }
            await expect(.uploadSuperseded) { try await database.store.append([5], to: &second, isDurable: true) }
            #expect(try await database.store.uploadProgress(upload.id, owner: upload.owner).offset == 4)
            var third = try await begin(database, upload)
            #expect(third.offset == 0)
            await expect(.uploadSuperseded) {
                try await database.store.finishUpload(second, rules: AttachmentDatabase.rules)
            }
            try await database.store.append([9], to: &third, isDurable: true)
            #expect(try await database.bytes(of: upload.id) == [9])
            // Of an upload that was deleted and begun again with the same id, too.
            try await database.store.deleteAttachment(upload.id, owner: upload.owner)
            await expect(.uploadSuperseded) { try await database.store.append([1], to: &third, isDurable: true) }
            _ = try await begin(database, upload)
            await expect(.uploadSuperseded) { try await database.store.append([1], to: &third, isDurable: true) }
            #expect(try await database.bytes(of: upload.id) == [])
        }
    }

    /// Runs tasks at the same time, and returns how many returned true. The others may be refused with the code.
    private func count(
        of tasks: Int, refusing code: ProblemCode, _ body: @escaping @Sendable (_ number: Int) async throws -> Bool
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<tasks {
                group.addTask {
                    do { return try await body(number) } catch let problem as Problem where problem.code == code {
                        return false
                    }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
    }

    @Test("of a hundred simultaneous requests one continues, and no byte is written twice")
    func simultaneous() async throws {
        try await AttachmentDatabase.run { database in
            let upload: Upload = (.make(), try await database.user())
            _ = try await begin(database, upload)
            let added = try await count(of: 100, refusing: .uploadSuperseded) { _ in
                let progress = try await database.store.uploadProgress(upload.id, owner: upload.owner)
                guard case .receiving(var claim) = try await resume(database, upload, at: progress.offset) else {
                    return false
                }
                try await database.store.append([1], to: &claim, isDurable: false)
                return true
            }
            #expect(try await database.store.uploadProgress(upload.id, owner: upload.owner).offset == added)
            let stored = "select sum(octet_length(data)) from attachment_chunks where attachment_id = '\(upload.id)'"
            #expect(try await database.sql(stored).contains("\(added)"))
        }
    }

    @Test("a piece that is not durable is lost in a crash of PostgreSQL, and no offset was shown that is lost")
    func crash() async throws {
        // Else the WAL writer makes pieces durable by itself.
        let cluster = try await TestCluster.own(settings: ["wal_writer_delay": "10s", "wal_writer_flush_after": "1GB"])
        let conninfo = try await MigratedDatabase.make(on: cluster)
        let bytes = [UInt8](repeating: 7, count: 80_000)
        let upload = try await AttachmentDatabase.run(on: conninfo) { database -> Upload in
            let upload: Upload = (.make(), try await database.user())
            var claim = try await begin(database, upload)
            try await database.store.append(bytes, to: &claim, isDurable: false)
            try await database.store.append(bytes, to: &claim, isDurable: false)
            #expect(try await database.store.uploadProgress(upload.id, owner: upload.owner).offset == 160_000)
            guard case .receiving(var next) = try await resume(database, upload, at: 160_000) else {
                throw Problem(.internalError, "The offset is 160,000.")
            }
            try await database.store.append(bytes, to: &next, isDurable: false)
            await cluster.stop(.immediate)
            return upload
        }
        try await cluster.start()
        try await AttachmentDatabase.run(on: conninfo) { database in
            let progress = try await database.store.uploadProgress(upload.id, owner: upload.owner)
            // In the chunk, and in a piece after it.
            let stored = "select sum(octet_length(data)) from attachment_chunks where attachment_id = '\(upload.id)'"
            #expect(progress.offset == 160_000)
            #expect(try await database.sql(stored).contains("160000"))
        }
        await cluster.close()
    }

    @Test("refuses another account's id, a wrong length and unknown uploads")
    func refusals() async throws {
        try await AttachmentDatabase.run { database in
            let upload: Upload = (.make(), try await database.user())
            let other: Upload = (upload.id, try await database.user())
            var claim = try await begin(database, upload, length: 5)
            await expect(.idTaken) { _ = try await begin(database, other) }
            await expect(.attachmentNotFound) { _ = try await resume(database, other, at: 0) }
            await expect(.attachmentNotFound) {
                _ = try await database.store.uploadProgress(upload.id, owner: other.owner)
            }
            await expect(.attachmentNotFound) {
                try await database.store.deleteAttachment(upload.id, owner: other.owner)
            }
            await expect(.invalid) { _ = try await resume(database, upload, at: 0, length: 6) }
            try await database.store.append([1, 2], to: &claim, isDurable: true)
            await expect(.invalid) { try await database.store.finishUpload(claim, rules: AttachmentDatabase.rules) }
            try await database.store.append([3, 4, 5], to: &claim, isDurable: true)
            try await database.store.finishUpload(claim, rules: AttachmentDatabase.rules)
            await expect(.idTaken) { _ = try await begin(database, other) }
        }
    }

    @Test("refuses what is larger than a file may be, or than the account's quota has left")
    func bounds() async throws {
        try await AttachmentDatabase.run { database in
            var rules = UploadRules(byteCountMax: 100, quotaByteCount: 250, unusedCountMax: 3, unusedHours: 24)
            let owner = try await database.user()
            await expect(.attachmentTooLarge) {
                _ = try await begin(database, (.make(), owner), length: 101, rules: rules)
            }
            let first = try await begin(database, (.make(), owner), length: 100, rules: rules)
            #expect(first.byteCountMax == 100 && !first.isBoundByQuota)
            let second: Upload = (.make(), owner)
            _ = try await begin(database, second, length: 100, rules: rules)
            let third = try await begin(database, (.make(), owner), rules: rules)
            #expect(third.byteCountMax == 50 && third.isBoundByQuota)
            await expect(.quotaExceeded) { _ = try await begin(database, (.make(), owner), length: 1, rules: rules) }
            rules.unusedCountMax = 4
            await expect(.quotaExceeded) { _ = try await begin(database, (.make(), owner), length: 51, rules: rules) }
            _ = try await begin(database, (.make(), owner), length: 50, rules: rules)
            // Its own bytes do not count.
            _ = try await begin(database, second, length: 100, rules: rules)
            try await database.store.deleteAttachment(second.id, owner: owner)
            _ = try await begin(database, (.make(), owner), length: 100, rules: rules)
            #expect(try await begin(database, (.make(), try await database.user()), rules: rules).byteCountMax == 100)
        }
    }

    @Test("simultaneous uploads never exceed the quota, declared or not")
    func quotaRaces() async throws {
        try await AttachmentDatabase.run { database in
            let rules = UploadRules(byteCountMax: 100, quotaByteCount: 500, unusedCountMax: 100, unusedHours: 24)
            let owner = try await database.user()
            let finished = try await count(of: 20, refusing: .quotaExceeded) { number in
                let length = number.isMultiple(of: 2) ? 90 : nil
                var claim = try await begin(database, (.make(), owner), length: length, rules: rules)
                try await database.store.append([UInt8](repeating: 1, count: 90), to: &claim, isDurable: false)
                try await database.store.finishUpload(claim, rules: rules)
                return true
            }
            #expect((1...5).contains(finished))
            #expect(try await database.sql("select sum(stored_bytes) <= 500 from attachments") == "t")
        }
    }
}
