// Reading an archive: the lines of an export, from one snapshot of the database.
import Domain
import Logging
import Postgres

/// One transaction that reads an archive on a connection of its own. The connection is closed with the last reference,
/// or when nothing is read for two minutes. Methods throw `Problem` or `CancellationError`. A lost connection is a
/// problem at the next read, because the transaction is lost with it.
package final class ArchiveReader: Sendable {
    /// The time in which the receiver must take what was read last.
    private static let idleMax = Duration.seconds(120)
    /// The first rows of a filtered part may need a walk through all messages of the archive.
    private static let statementMax = Duration.seconds(600)
    /// Lines of a page, unless they have a mebibyte before.
    private static let lineCountMax: Int32 = 1_000
    private static let attachmentCountMax: Int32 = 100

    private let pool: Pool
    private let scope: ArchiveScope

    /// - Parameter settings: of a direct connection, without a pooler.
    package init(_ settings: PostgresSettings, _ scope: ArchiveScope, logger: Logger) {
        var settings = settings
        settings.connectionCountMax = 1
        settings.inFlightPerConnectionMax = 1
        settings.idleInTransactionSessionTimeout = Self.idleMax
        settings.statementTimeout = Self.statementMax
        pool = Pool(PostgresClient(settings, logger: logger))
        self.scope = scope
    }

    /// Takes the snapshot. Call it first, once. Returns the time of the snapshot (RFC 3339). Throws `user_not_found`,
    /// `thread_not_found`.
    package func begin() async throws -> String {
        _ = try await pool.rows(
            Statement("archive_transaction", "begin isolation level repeatable read read only"), [])
        let row = try await pool.row(
            Statement("archive_begin", "select archive_begin($1, $2)"), Array(scope.parameters.prefix(2)))
        return try await decoded { try row.text(0) }
    }

    /// Begins a part. `next` then returns its lines, or `nextAttachments`.
    package func open(_ part: ArchivePart) async throws {
        _ = try await pool.rows(
            Statement("archive_open", "select archive_open($1, $2, $3, $4, $5)"),
            [.text(part.rawValue)] + scope.parameters)
    }

    /// Returns the next lines of the part that was begun last, none at its end. About 1 MiB at most.
    package func next() async throws -> [JSONText] {
        let rows = try await pool.rows(
            Statement("archive_next", "select archive_next($1)"), [.int4(Self.lineCountMax)])
        return try await decoded { try rows.map { try $0.json(0) } }
    }

    /// The same for the part `attachments`.
    package func nextAttachments() async throws -> [ArchivedAttachment] {
        let rows = try await pool.rows(
            Statement("archive_next_files", "select * from archive_next_files($1)"), [.int4(Self.attachmentCountMax)])
        return try await decoded { try rows.map { try Self.attachment($0) } }
    }

    private static func attachment(_ row: Row) throws -> ArchivedAttachment {
        let id = AttachmentID(try row.uuid(1))
        var files = [
            ArchiveFile(
                attachment: id, variant: .original, byteCount: Int(try row.int8(2)),
                isInObjectStore: try row.bool(3))
        ]
        if !row.isNull(4) {
            files.append(
                ArchiveFile(
                    attachment: id, variant: .thumbnail, byteCount: Int(try row.int4(4)),
                    isInObjectStore: try row.bool(5)))
        }
        return ArchivedAttachment(line: try row.json(0), files: files)
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
            Statement("archive_record", "select archive_record($1, $2, $3, $4, $5, $6, $7)"),
            actor.parameters + scope.parameters)
    }
}
