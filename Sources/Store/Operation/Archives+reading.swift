// Reading an archive: the lines of an export, from one snapshot of the database.
import Domain
import Logging
import Postgres

/// What an archive holds. Without filters: everything.
package struct ArchiveScope: Sendable, Equatable {
    package var user: UserID?
    package var thread: ThreadID?
    /// Of messages: created at this time or later.
    package var since: Timestamp?
    /// Of messages: created before this time.
    package var until: Timestamp?

    package init(user: UserID? = nil, thread: ThreadID? = nil, since: Timestamp? = nil, until: Timestamp? = nil) {
        self.user = user
        self.thread = thread
        self.since = since
        self.until = until
    }

    fileprivate var parameters: [Parameter] {
        [
            .uuid(orNull: user?.uuid), .uuid(orNull: thread?.uuid),
            since.map { .timestamp(microsSince1970: $0.microsSince1970) } ?? .null,
            until.map { .timestamp(microsSince1970: $0.microsSince1970) } ?? .null,
        ]
    }
}

/// A part of an archive, in the order of the file.
package enum ArchivePart: String, CaseIterable, Sendable {
    case users, blocks, attachments, threads, members, messages, versions, reactions, receipts, hidden
}

/// A line of an archive.
package struct ArchiveRow: Sendable {
    package var line: JSONText
    /// Of an attachment: its variants, whose bytes follow the line.
    package var files: [ArchiveFile] = []
}

/// The bytes of a variant of an attachment.
package struct ArchiveFile: Sendable {
    package var attachment: AttachmentID
    package var variant: AttachmentVariant
    package var byteCount: Int
    /// Whether the bytes are in the object store, under `objectKey`.
    package var isInObjectStore: Bool
    package var objectKey: String { variant.objectKey(of: attachment) }
}

/// One transaction that reads an archive on a connection of its own. The connection is closed with the last reference,
/// or when nothing is read for two minutes. Methods throw `Problem` or `CancellationError`. A lost connection is a
/// problem at the next read, because the transaction is lost with it.
package final class ArchiveReader: Sendable {
    /// The time in which the receiver must take what was read last.
    private static let idleMax = Duration.seconds(120)
    /// Rows of up to 64 KiB each.
    private static let rowCountMax: Int = 100

    private let pool: Pool
    private let scope: ArchiveScope

    /// - Parameter settings: of a direct connection, without a pooler. The reader takes one connection more.
    package init(_ settings: PostgresSettings, _ scope: ArchiveScope, logger: Logger) {
        var settings = settings
        settings.connectionCountMax = 1
        settings.inFlightPerConnectionMax = 1
        settings.idleInTransactionSessionTimeout = Self.idleMax
        // The first row of a part may need a sort of all.
        settings.statementTimeout = .seconds(600)
        pool = Pool(PostgresClient(settings, logger: logger))
        self.scope = scope
    }

    /// Takes the snapshot. Call it first, once. Returns the time of the snapshot. Throws `user_not_found`,
    /// `thread_not_found`.
    package func begin() async throws -> String {
        _ = try await pool.rows(
            Statement("archive_transaction", "begin isolation level repeatable read read only"), [])
        let row = try await pool.row(
            Statement("archive_begin", "select archive_begin($1, $2)"), Array(scope.parameters.prefix(2)))
        return try await decoded { try row.text(0) }
    }

    /// Begins a part.
    package func open(_ part: ArchivePart) async throws {
        _ = try await pool.rows(
            Statement("archive_open", "select archive_open($1, $2, $3, $4, $5)"),
            [.text(part.rawValue)] + scope.parameters)
    }

    /// Returns the next lines of the part that was begun last, none at its end.
    package func next() async throws -> [ArchiveRow] {
        let rows = try await pool.rows(
            // The columns of parts differ, and so would a prepared statement's.
            Statement("archive_fetch", "fetch \(Self.rowCountMax) from archive"), [])
        return try await decoded { try rows.map { ArchiveRow(line: try $0.json(0)) } }
    }

    /// The same for the part `attachments`.
    package func nextAttachments() async throws -> [ArchiveRow] {
        let rows = try await pool.rows(
            Statement("archive_fetch_attachments", "fetch \(Self.rowCountMax) from archive"), [])
        return try await decoded { try rows.map { try Self.attachment($0) } }
    }

    private static func attachment(_ row: Row) throws -> ArchiveRow {
        let id = AttachmentID(try row.uuid(1))
        var files = [
            ArchiveFile(
                attachment: id, variant: .original, byteCount: Int(try row.int8(2)),
                isInObjectStore: try row.bool(3))
        ]
        if let byteCount = try row.int4OrNull(4) {
            files.append(
                ArchiveFile(
                    attachment: id, variant: .thumbnail, byteCount: Int(byteCount),
                    isInObjectStore: try row.bool(5)))
        }
        return ArchiveRow(line: try row.json(0), files: files)
    }

    /// Returns a chunk of a file that the snapshot has in the database.
    package func chunk(_ number: Int, of file: ArchiveFile) async throws -> [UInt8] {
        let row = try await pool.row(
            Statement("attachment_chunk", "select attachment_chunk($1, $2, $3)"),
            [.id(file.attachment), .int2(file.variant.rawValue), .int4(Int32(number))])
        guard let bytes = try await decoded({ try row.bytesOrNull(0) }) else {
            throw Problem(.internalError, "chunk \(number) of attachment \(file.attachment) is missing")
        }
        return bytes
    }

    /// Ends the transaction and closes the connection.
    package func close() async { await pool.client.shutdown() }
}

extension Store {
    /// Records an export in the audit log.
    package func recordExport(_ scope: ArchiveScope, by actor: AdminActor) async throws {
        _ = try await rows(
            Statement("archive_record", "select archive_record($1, $2, $3, $4, $5, $6)"),
            actor.parameters + scope.parameters)
    }
}
