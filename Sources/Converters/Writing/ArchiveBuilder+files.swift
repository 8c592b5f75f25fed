// Lines for attachments and their bytes.
import Basics
import Cryptography
import Domain
import FoundationEssentials
import Pictures

extension ArchiveBuilder {
    /// The bytes of a file in one line: in Base64, such a line has less than 1 MiB.
    private static let pieceByteCount = 512 * 1024

    /// Writes a file of the export with its bytes. Nil if the bytes are not there, with a note in the report.
    func add(_ file: SourceFile, owner: UserID, createdAt: Timestamp) throws -> AttachmentID? {
        let id = ids.attachment(file.source)
        if attachments.contains(id) { return id }
        guard let relative = file.path, let path = try folder.file(relative) else {
            report.change(
                "files whose bytes are not in the export: name and address in the text",
                "\(file.name) \(file.url ?? "")")
            return nil
        }
        let facts = try FileFacts(path)
        guard facts.byteCount > 0, facts.byteCount <= limits.attachmentByteCountMax else {
            let rule = "files that are empty or larger than \(limits.attachmentByteCountMax) bytes: name in the text"
            report.change(rule, "\(file.name), \(facts.byteCount) bytes")
            return nil
        }
        try lines.append(
            "attachment",
            [
                .init("id", .string(id.description)), .init("owner_id", .string(owner.description)),
                .init("name", .string(Self.name(file.name))), .text("media_type", facts.type?.rawValue),
                .text("declared_type", file.mediaType.flatMap(Self.declared)), .init("size", .integer(facts.byteCount)),
                .init("sha256", .string(facts.digest)), .init("created_at", .string(createdAt.description)),
            ])
        let reader = try ByteReader(path)
        var number = 0
        while let piece = try reader.next(Self.pieceByteCount) {
            try lines.append(
                "attachment_data",
                [
                    .init("id", .string(id.description)), .init("variant", .string("original")),
                    .init("n", .integer(number)), .init("data", .string(Data(piece).base64EncodedString())),
                ])
            number += 1
        }
        attachments.insert(id)
        return id
    }

    /// One line, the last part of a path, within the length that Parley accepts.
    static func name(_ text: String) -> String {
        let last = text.showable.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
        let name = last.trimmed.prefix(byteCountMax: AttachmentSizes.nameByteCountMax).trimmed
        return name.isEmpty ? "file" : name
    }

    /// Returns nil for what is no MIME type.
    static func declared(_ type: String) -> String? {
        let parts = type.split(separator: "/", omittingEmptySubsequences: false)
        let isToken = parts.allSatisfy { part in
            !part.isEmpty && part.utf8.allSatisfy { $0.isAlphanumeric || "!#$&-^_.+".utf8.contains($0) }
        }
        return parts.count == 2 && isToken && type.utf8.count <= 127 ? type.lowercased() : nil
    }
}

/// The size, digest and type of a file, in one reading.
private struct FileFacts {
    var byteCount = 0
    var digest = ""
    var type: MediaType?

    init(_ path: String) throws {
        let reader = try ByteReader(path)
        var hash = SHA256()
        while let chunk = try reader.next() {
            if byteCount == 0 { type = MediaType.sniff(chunk) }
            byteCount += chunk.count
            hash.update(chunk)
        }
        digest = hash.finalize().hexadecimal
    }
}
