// The files of a staged archive, which the service reads before it applies the import.
import Domain
import Postgres

/// A variant of a staged attachment that does not exist here.
package struct ImportedFile: Sendable {
    package let line: Int
    package let attachment: AttachmentID
    package let variant: AttachmentVariant
    package let byteCount: Int
    /// The first 4 KiB.
    package let head: [UInt8]
}

/// What the service found of a staged attachment.
package struct ImportedFileFacts: Sendable {
    package let attachment: AttachmentID
    package let mediaType: String
    /// As displayed; nil if the file is no picture that can be read.
    package var width: Int?
    package var height: Int?

    package init(attachment: AttachmentID, mediaType: String) {
        self.attachment = attachment
        self.mediaType = mediaType
    }
}

extension Store {
    /// Returns the variants of staged attachments that do not exist here, by attachment.
    package func importedFiles(
        of id: ImportID, after attachment: AttachmentID?, limit: Int32
    ) async throws -> [ImportedFile] {
        let rows = try await imports.rows(
            Statement("import_files", "select * from import_files($1, $2, $3)"),
            [.id(id), .uuid(orNull: attachment?.uuid), .int4(limit)])
        return try await decoded {
            try rows.map { row in
                ImportedFile(
                    line: Int(try row.int8(0)), attachment: AttachmentID(try row.uuid(1)),
                    variant: try row.int2(2) == 0 ? .original : .thumbnail, byteCount: Int(try row.int8(3)),
                    head: try row.bytes(4))
            }
        }
    }

    /// Returns the next piece of a staged file after the one with this number; nil at its end.
    package func readImportedFile(
        _ file: ImportedFile, of id: ImportID, after number: Int32
    ) async throws -> (number: Int32, bytes: [UInt8])? {
        let rows = try await imports.rows(
            Statement("import_file_read", "select * from import_file_read($1, $2, $3, $4)"),
            [.id(id), .id(file.attachment), .int2(file.variant.rawValue), .int4(number)])
        return try await decoded { try rows.first.map { (try $0.int4(0), try $0.bytes(1)) } }
    }

    /// Stages a piece of the bytes that `replaceImportedFile` puts in the place of a file's. Piece 0 deletes what an
    /// earlier try has left.
    package func writeImportedFile(
        _ bytes: [UInt8], number: Int32, _ file: ImportedFile, of id: ImportID
    ) async throws {
        _ = try await imports.rows(
            Statement("import_file_write", "select import_file_write($1, $2, $3, $4, $5)"),
            [.id(id), .int8(Int64(file.line)), .id(file.attachment), .int4(number), .bytes(bytes)])
    }

    /// Replaces a staged file by the pieces that were written.
    package func replaceImportedFile(_ file: ImportedFile, of id: ImportID, by stored: StoredVariant) async throws {
        _ = try await imports.rows(
            Statement("import_file_replace", "select import_file_replace($1, $2, $3, $4, $5, $6)"),
            [
                .id(id), .id(file.attachment), .int2(file.variant.rawValue), .text(stored.mediaType),
                .int8(Int64(stored.byteCount)), .bytes(stored.digest),
            ])
    }

    package func put(_ facts: [ImportedFileFacts], of id: ImportID) async throws {
        _ = try await imports.rows(
            Statement("import_files_put", "select import_files_put($1, $2, $3, $4, $5)"),
            [
                .id(id), .ids(facts.map(\.attachment)), .texts(facts.map(\.mediaType)),
                .int4s(facts.map { $0.width.map { Int32($0) } }),
                .int4s(facts.map { $0.height.map { Int32($0) } }),
            ])
    }
}
