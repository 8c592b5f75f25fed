// Writes an archive: all parts of a snapshot, line by line (docs/import-export.md).
import Domain
import FoundationEssentials
import Store

/// Reads the parts of an archive and passes its lines on. Holds one page of lines, or one piece of a file.
package struct ArchiveWriter {
    /// The version of the format.
    package static let version = 1
    /// Bytes of a file in one line: two chunks of the database. In Base64, such a line has less than 1 MiB.
    static let pieceByteCount = 2 * AttachmentSizes.chunkByteCount

    /// Returns bytes of an object in the object store.
    package typealias ReadObject = @Sendable (_ key: String, Range<Int>) async throws -> [UInt8]

    private let reader: ArchiveReader
    /// Nil if all bytes are in the database.
    private let readObject: ReadObject?
    package private(set) var digest = ArchiveDigest()

    /// - Parameter reader: has begun.
    package init(_ reader: ArchiveReader, readObject: ReadObject?) {
        self.reader = reader
        self.readObject = readObject
    }

    /// Writes everything.
    /// - Parameters:
    ///   - heading: the members of the first line besides the version.
    ///   - write: receives whole lines. The next ones are read when it returns.
    /// - Throws: `Problem`, `CancellationError`, and what `write` throws. The archive has no line `end` then.
    package mutating func run(
        heading: [JSONValue.Member], write: ([UInt8]) async throws -> Void
    ) async throws {
        let first = ArchiveLine.bytes("archive", .object([.init("version", .integer(Self.version))] + heading))
        digest.update(first, type: "archive", count: 1)
        try await write(first)
        for part in ArchivePart.allCases { try await run(part, write) }
        try await write(digest.finish())
    }

    private mutating func run(_ part: ArchivePart, _ write: ([UInt8]) async throws -> Void) async throws {
        try await reader.open(part)
        while true {
            let rows = part == .attachments ? try await reader.nextAttachments() : try await reader.next()
            guard !rows.isEmpty else { return }
            if part == .attachments {
                for row in rows { try await run(row, write) }
            } else {
                try await pass(Self.lines(rows), part.lineType, count: rows.count, write)
            }
        }
    }

    /// Writes an attachment and its bytes.
    private mutating func run(_ row: ArchiveRow, _ write: ([UInt8]) async throws -> Void) async throws {
        try await pass(Self.lines([row]), ArchivePart.attachments.lineType, count: 1, write)
        for file in row.files {
            for (number, start) in stride(from: 0, to: file.byteCount, by: Self.pieceByteCount).enumerated() {
                let range = start..<min(start + Self.pieceByteCount, file.byteCount)
                let line = ArchiveLine.bytes(
                    "attachment_data",
                    .object([
                        .init("id", .string(file.attachment.description)),
                        .init("variant", .string("\(file.variant)")),
                        .init("n", .integer(number)),
                        .init("data", .string(Data(try await read(range, of: file)).base64EncodedString())),
                    ]))
                try await pass(line, "attachment_data", count: 1, write)
            }
        }
    }

    private func read(_ range: Range<Int>, of file: ArchiveFile) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        if file.isInObjectStore {
            guard let readObject else {
                throw Problem(.unavailable, "The archive needs the object store, whose settings are missing.")
            }
            bytes = try await readObject(file.objectKey, range)
        } else {
            let size = AttachmentSizes.chunkByteCount
            for number in range.lowerBound / size...(range.upperBound - 1) / size {
                bytes += try await reader.chunk(number, of: file)
            }
        }
        guard bytes.count == range.count else {
            throw Problem(.internalError, "attachment \(file.attachment) has fewer bytes than its row says")
        }
        return bytes
    }

    private mutating func pass(
        _ bytes: [UInt8], _ type: String, count: Int, _ write: ([UInt8]) async throws -> Void
    ) async throws {
        digest.update(bytes, type: type, count: count)
        try await write(bytes)
    }

    private static func lines(_ rows: [ArchiveRow]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(rows.reduce(0) { $0 + $1.line.utf8.count + 1 })
        for row in rows {
            // The database may print line breaks in JSON, only between values.
            for byte in row.line.utf8 {
                bytes.append(byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") ? UInt8(ascii: " ") : byte)
            }
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }
}

extension ArchivePart {
    /// The `type` of the part's lines.
    var lineType: String {
        switch self {
        case .users: "user"
        case .blocks: "block"
        case .attachments: "attachment"
        case .threads: "thread"
        case .members: "member"
        case .messages: "message"
        case .versions: "message_version"
        case .reactions: "reaction"
        case .receipts: "receipt"
        case .hidden: "hidden_message"
        }
    }
}

extension ArchiveScope {
    /// The members of an archive's first line besides the version.
    /// - Parameter snapshotAt: RFC 3339.
    package func heading(at snapshotAt: String) -> [JSONValue.Member] {
        let filters: [(String, String?)] = [
            ("user", user?.description), ("thread", thread?.description), ("since", since?.description),
            ("until", until?.description),
        ]
        let given = filters.compactMap { name, value in value.map { JSONValue.Member(name, .string($0)) } }
        return [.init("created_at", .string(snapshotAt))] + (given.isEmpty ? [] : [.init("filter", .object(given))])
    }
}
