// Deleting attachments that nothing uses, and moving them between PostgreSQL and the object store. Every call locks its
// rows and skips rows locked by others, so nodes share the work and finish what a dead node started.
import Domain
import Postgres

/// A file to be moved to or from the object store by this node until its lease ends.
package struct AttachmentMove: Sendable {
    package let attachment: AttachmentID
    package let claim: Int64
    /// The original and, if there is one, the thumbnail.
    package let variants: [(variant: AttachmentVariant, mediaType: String, byteCount: Int, digest: [UInt8])]
}

extension Store {
    /// Deletes attachments without a use whose time is over (last use gone: at once), at most `limit`, 64 chunks a
    /// call. Keys of the object store are written to the garbage list. Returns the number looked at; 0: nothing is due.
    package func sweepAttachments(limit: Int) async throws -> Int {
        let row = try await fileWrites.row(
            Statement("attachment_sweep", "select attachment_sweep($1)"), [.int4(Int32(limit))])
        return try await decoded { Int(try row.int4(0)) }
    }

    /// Keys to delete from the object store, whose retry time has come. Each is claimed for `leaseSeconds`, and for
    /// twice as long at each further try, up to 5 minutes.
    package func claimGarbage(limit: Int, leaseSeconds: Int) async throws -> [String] {
        let rows = try await rows(
            Statement("attachment_garbage_claim", "select * from attachment_garbage_claim($1, $2)"),
            [.int4(Int32(limit)), .int4(Int32(leaseSeconds))])
        return try await decoded { try rows.map { try $0.text(0) } }
    }

    /// The keys are gone from the object store.
    package func forgetGarbage(_ keys: [String]) async throws {
        _ = try await rows(
            Statement("attachment_garbage_forget", "select attachment_garbage_forget($1)"), [.texts(keys)])
    }

    /// Claims ready attachments that are not in `place` (true: object store) yet. Before it returns, the keys are in
    /// the garbage list with a retry time after the lease, so that a crash after the PUT leaves no object behind.
    ///
    /// Returns nothing unless `toObjectStore` is the place that `setAttachmentPlace` has set (the object store by
    /// default), so that movers in opposite directions never fight. Skips an attachment with a key in the garbage list:
    /// a delayed DELETE of an earlier try would delete what this claim's PUT writes.
    package func claimMoves(toObjectStore: Bool, limit: Int, leaseSeconds: Int) async throws -> [AttachmentMove] {
        let rows = try await rows(
            Statement("attachment_move_claim", "select * from attachment_move_claim($1, $2, $3)"),
            [.bool(toObjectStore), .int4(Int32(limit)), .int4(Int32(leaseSeconds))])
        return try await decoded { try Self.moves(rows) }
    }

    /// Returns the moves of rows that are ordered by attachment, one row a variant.
    private static func moves(_ rows: Rows) throws -> [AttachmentMove] {
        var moves: [AttachmentMove] = []
        for row in rows {
            let id = AttachmentID(try row.uuid(0))
            guard let variant = AttachmentVariant(rawValue: try row.int2(2)) else { continue }
            var variants = moves.last?.attachment == id ? moves.removeLast().variants : []
            variants.append((variant, try row.text(3), Int(try row.int8(4)), try row.bytes(5)))
            moves.append(AttachmentMove(attachment: id, claim: try row.int8(1), variants: variants))
        }
        return moves
    }

    /// Extends the lease of a move, and the retry time of its keys with it. Returns false if the lease has ended or the
    /// attachment was deleted.
    package func extendMove(_ move: AttachmentMove, leaseSeconds: Int) async throws -> Bool {
        let row = try await row(
            Statement("attachment_move_extend", "select attachment_move_extend($1, $2, $3, $4)"),
            [
                .id(move.attachment), .int8(move.claim), .int2s(move.variants.map { $0.variant.rawValue }),
                .int4(Int32(leaseSeconds)),
            ])
        return try await decoded { try row.bool(0) }
    }

    /// Counts ready attachments that are not in a place, and were created before a time in seconds since 1970.
    package func moveBacklog(toObjectStore: Bool, createdBefore time: Int) async throws -> Int {
        let row = try await reads.row(
            Statement("attachment_move_backlog", "select attachment_move_backlog($1, to_timestamp($2::bigint))"),
            [.bool(toObjectStore), .int8(Int64(time))])
        return try await decoded { Int(try row.int8(0)) }
    }

    /// Sets the place where all attachments belong.
    package func setAttachmentPlace(toObjectStore: Bool) async throws {
        _ = try await rows(Statement("attachment_place_put", "select attachment_place_put($1)"), [.bool(toObjectStore)])
    }

    /// To the object store: in one transaction the row is turned, chunks are deleted, keys leave the garbage list. To
    /// PostgreSQL (chunks were written by `restoreChunk`): the row is turned, and keys go to the garbage list with a
    /// retry time one minute later, so that downloads under way end. Returns false if the attachment was deleted,
    /// changed or claimed again meanwhile.
    package func finishMove(_ move: AttachmentMove, toObjectStore: Bool) async throws -> Bool {
        let row = try await fileWrites.row(
            Statement("attachment_move_end", "select attachment_move_end($1, $2, $3, $4)"),
            [
                .id(move.attachment), .int8(move.claim), .int2s(move.variants.map { $0.variant.rawValue }),
                .bool(toObjectStore),
            ])
        return try await decoded { try row.bool(0) }
    }

    /// Writes a chunk of a file that moves back to PostgreSQL. Chunk 0 deletes what an earlier claim left of that
    /// variant.
    package func restoreChunk(
        _ bytes: [UInt8], number: Int, of variant: AttachmentVariant, _ move: AttachmentMove
    ) async throws {
        try await putChunk(bytes, number, of: variant, move.attachment, claim: move.claim, state: .ready)
    }

    /// Counts of attachments with bytes in PostgreSQL and in the object store, and the garbage list's length.
    package func attachmentPlaces() async throws -> (here: Int, moved: Int, garbage: Int) {
        let row = try await reads.row(Statement("attachment_places", "select * from attachment_places()"), [])
        return try await decoded { (Int(try row.int8(0)), Int(try row.int8(1)), Int(try row.int8(2))) }
    }
}
