// Writes an archive: all parts of a snapshot, line by line (docs/import-export.md).
import Domain
import Store

/// Reads the parts of an archive and passes its lines on. Holds one page of lines, or one piece of a file.
package struct ArchiveWriter {
    /// Bytes of a file in one line: two chunks of the database. In Base64, such a line has less than 1 MiB.
    static let pieceByteCount = 2 * AttachmentSizes.chunkByteCount

    /// Returns bytes of an object in the object store, nil if there is no such object.
    package typealias ReadObject = @Sendable (_ key: String, Range<Int>) async throws -> [UInt8]?
    /// Receives whole lines, and how many. The next ones are read when it returns.
    package typealias Write = (_ bytes: [UInt8], _ lineCount: Int) async throws -> Void

    private let reader: ArchiveReader
    /// It is nil if all bytes are in the database.
    private let readObject: ReadObject?
    package private(set) var digest = ArchiveDigest()

    /// - Parameter reader: has begun.
    package init(_ reader: ArchiveReader, readObject: ReadObject?) {
        self.reader = reader
        self.readObject = readObject
    }

    /// Writes everything.
    /// - Throws: `Problem`, `CancellationError`, and what `write` throws. The archive has no line `end` then.
    package mutating func run(heading: [UInt8], _ write: Write) async throws {
        try await pass(heading, "archive", count: 1, write)
        for part in ArchivePart.allCases {
            try await reader.open(part)
            if part == .attachments { try await attachments(write) } else { try await lines(of: part, write) }
        }
        try await write(digest.finish(), 1)
    }

    private mutating func lines(of part: ArchivePart, _ write: Write) async throws {
        while true {
            let lines = try await reader.next()
            guard !lines.isEmpty else { return }
            try await pass(ArchiveText.lines(lines), part.lineType, count: lines.count, write)
        }
    }

    private mutating func attachments(_ write: Write) async throws {
        while true {
            let attachments = try await reader.nextAttachments()
            guard !attachments.isEmpty else { return }
            for attachment in attachments {
                let line = ArchiveText.lines([attachment.line])
                try await pass(line, ArchivePart.attachments.lineType, count: 1, write)
                for file in attachment.files { try await bytes(of: file, write) }
            }
        }
    }

    private mutating func bytes(of file: ArchiveFile, _ write: Write) async throws {
        for (number, start) in stride(from: 0, to: file.byteCount, by: Self.pieceByteCount).enumerated() {
            let range = start..<min(start + Self.pieceByteCount, file.byteCount)
            let bytes = try await file.isInObjectStore ? object(file, range) : chunks(of: file, range)
            guard bytes.count == range.count else {
                throw Problem(.internalError, "attachment \(file.attachment) has fewer bytes than its row says")
            }
            let line = ArchiveText.piece(bytes, number: number, of: file)
            try await pass(line, "attachment_data", count: 1, write)
        }
    }

    private func chunks(of file: ArchiveFile, _ range: Range<Int>) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        let size = AttachmentSizes.chunkByteCount
        for number in range.lowerBound / size...(range.upperBound - 1) / size {
            bytes += try await reader.chunk(number, of: file)
        }
        return bytes
    }

    private func object(_ file: ArchiveFile, _ range: Range<Int>) async throws -> [UInt8] {
        guard let readObject else {
            throw Problem(
                .unavailable, "Attachments are in an object store. Set the PARLEY_S3_… settings of the nodes.")
        }
        guard let bytes = try await readObject(file.objectKey, range) else {
            // The snapshot has the row, but no snapshot has the object.
            throw Problem(
                .unavailable,
                "Attachment \(file.attachment) was deleted or moved since the export began. Export again.")
        }
        return bytes
    }

    private mutating func pass(_ bytes: [UInt8], _ type: String, count: Int, _ write: Write) async throws {
        digest.update(bytes, type: type, count: count)
        try await write(bytes, count)
    }
}
