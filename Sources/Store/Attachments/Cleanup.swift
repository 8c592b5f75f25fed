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
        try await fileWrites.value("attachment_sweep", [.int(limit)]) { Int(try $0.int4(0)) }
    }

    /// Keys to delete from the object store, whose retry time has come. Each is claimed for `leaseSeconds`, and for
    /// twice as long at each further try, up to 5 minutes.
    package func claimGarbage(limit: Int, leaseSeconds: Int) async throws -> [String] {
        try await rows("attachment_garbage_claim", [.int(limit), .int(leaseSeconds)]) { try $0.text(0) }
    }

    /// The keys are gone from the object store.
    package func forgetGarbage(_ keys: [String]) async throws {
        try await call("attachment_garbage_forget", [.texts(keys)])
    }

    /// Claims ready attachments that are not in `place` (true: object store) yet. Before it returns, the keys are in
    /// the garbage list with a retry time after the lease, so that a crash after the PUT leaves no object behind.
    ///
    /// Returns nothing unless `toObjectStore` is the place that `setAttachmentPlace` has set (the object store by
    /// default), so that movers in opposite directions never fight. Skips an attachment with a key in the garbage list:
    /// a delayed DELETE of an earlier try would delete what this claim's PUT writes.
    package func claimMoves(toObjectStore: Bool, limit: Int, leaseSeconds: Int) async throws -> [AttachmentMove] {
        let rows = try await rows("attachment_move_claim", [.bool(toObjectStore), .int(limit), .int(leaseSeconds)])
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
        try await value(
            "attachment_move_extend",
            [
                .id(move.attachment), .int8(move.claim), .int2s(move.variants.map { $0.variant.rawValue }),
                .int(leaseSeconds),
            ]
        ) { try $0.bool(0) }
    }

    /// Counts ready attachments that are not in a place, and were created before a time in seconds since 1970.
    package func moveBacklog(toObjectStore: Bool, createdBefore time: Int) async throws -> Int {
        try await reads.value(
            "attachment_move_backlog",
            [.bool(toObjectStore), .timestamp(microsSince1970: Int64(time) * 1_000_000)]
        ) { Int(try $0.int8(0)) }
    }

    /// Sets the place where all attachments belong.
    package func setAttachmentPlace(toObjectStore: Bool) async throws {
        try await call("attachment_place_put", [.bool(toObjectStore)])
    }

    /// To the object store: in one transaction the row is turned, chunks are deleted, keys leave the garbage list. To
    /// PostgreSQL (chunks were written by `restoreChunk`): the row is turned, and keys go to the garbage list with a
    /// retry time one minute later, so that downloads under way end. Returns false if the attachment was deleted,
    /// changed or claimed again meanwhile.
    package func finishMove(_ move: AttachmentMove, toObjectStore: Bool) async throws -> Bool {
        try await fileWrites.value(
            "attachment_move_end",
            [
                .id(move.attachment), .int8(move.claim), .int2s(move.variants.map { $0.variant.rawValue }),
                .bool(toObjectStore),
            ]
        ) { try $0.bool(0) }
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
        try await reads.row("attachment_places", []) { (Int(try $0.int8(0)), Int(try $0.int8(1)), Int(try $0.int8(2))) }
    }
}
