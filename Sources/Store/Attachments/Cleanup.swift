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
    package func sweepAttachments(limit: Int) async throws -> Int { fatalError("not built yet") }

    /// Keys to delete from the object store, whose retry time has come. Each is claimed for `leaseSeconds`.
    package func claimGarbage(limit: Int, leaseSeconds: Int) async throws -> [String] { fatalError("not built yet") }

    /// The keys are gone from the object store.
    package func forgetGarbage(_ keys: [String]) async throws { fatalError("not built yet") }

    /// Claims ready attachments that are not in `place` (true: object store) yet. Before it returns, the keys are in
    /// the garbage list with a retry time after the lease, so that a crash after the PUT leaves no object behind.
    ///
    /// Returns nothing unless `toObjectStore` is the place that `setAttachmentPlace` has set (the object store by
    /// default), so that movers in opposite directions never fight. Skips an attachment with a key in the garbage list:
    /// a delayed DELETE of an earlier try would delete what this claim's PUT writes.
    package func claimMoves(toObjectStore: Bool, limit: Int, leaseSeconds: Int) async throws -> [AttachmentMove] {
        fatalError("not built yet")
    }

    /// Sets the place where all attachments belong.
    package func setAttachmentPlace(toObjectStore: Bool) async throws { fatalError("not built yet") }

    /// To the object store: in one transaction the row is turned, chunks are deleted, keys leave the garbage list. To
    /// PostgreSQL (chunks were written by `restoreChunk`): the row is turned, and keys go to the garbage list with a
    /// retry time one minute later, so that downloads under way end. Returns false if the attachment was deleted or
    /// claimed again meanwhile.
    package func finishMove(_ move: AttachmentMove, toObjectStore: Bool) async throws -> Bool {
        fatalError("not built yet")
    }

    /// Writes a chunk of a file that moves back to PostgreSQL.
    package func restoreChunk(
        _ bytes: [UInt8], number: Int, of variant: AttachmentVariant, _ move: AttachmentMove
    ) async throws {
        fatalError("not built yet")
    }

    /// Counts of attachments and bytes in PostgreSQL and in the object store, and the garbage list's length.
    package func attachmentPlaces() async throws -> (here: Int, moved: Int, garbage: Int) {
        fatalError("not built yet")
    }
}
