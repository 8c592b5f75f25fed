// Reads whole archives in tests.
import Domain
import Logging
import Postgres
import Store

/// The lines of an archive by part, each as its `data`.
struct ArchivedLines {
    private(set) var parts: [ArchivePart: [JSONValue]] = [:]
    private(set) var files: [ArchiveFile] = []
    private(set) var pageByteCounts: [Int] = []

    subscript(part: ArchivePart) -> [JSONValue] { parts[part] ?? [] }

    /// The values of a member in the order of the lines.
    func values(_ name: String, in part: ArchivePart) -> [String] { self[part].compactMap { $0[name]?.string } }

    static func reader(_ conninfo: String, _ scope: ArchiveScope) -> ArchiveReader {
        var quiet = Logger(label: "test")
        quiet.logLevel = .critical
        return ArchiveReader(
            PostgresSettings(conninfo: conninfo, applicationName: "parley-test-archive"), scope, logger: quiet)
    }

    init(of database: AttachmentDatabase, _ scope: ArchiveScope = ArchiveScope()) async throws {
        let reader = Self.reader(database.conninfo, scope)
        _ = try await reader.begin()
        try await read(reader)
        await reader.close()
    }

    /// - Parameter reader: has begun.
    init(_ reader: ArchiveReader) async throws { try await read(reader) }

    private mutating func read(_ reader: ArchiveReader) async throws {
        for part in ArchivePart.allCases {
            try await reader.open(part)
            while true {
                let lines = try await part == .attachments ? attachments(reader) : reader.next()
                if lines.isEmpty { break }
                pageByteCounts.append(lines.reduce(0) { $0 + $1.utf8.count })
                parts[part, default: []] += try lines.map { try Self.data($0, part) }
            }
        }
    }

    private mutating func attachments(_ reader: ArchiveReader) async throws -> [JSONText] {
        let page = try await reader.nextAttachments()
        files += page.flatMap(\.files)
        return page.map(\.line)
    }

    private static func data(_ line: JSONText, _ part: ArchivePart) throws -> JSONValue {
        let json = try JSONReader.read(line.utf8, .init(depthMax: 64))
        guard json["type"]?.string == part.lineType, let data = json["data"] else {
            throw Problem(.internalError, "a line of another type than \(part.lineType)")
        }
        return data
    }
}
