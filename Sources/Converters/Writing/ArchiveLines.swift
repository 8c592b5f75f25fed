// Writes the lines of an archive, and counts and digests them for the last one (docs/import-export.md).
import Basics
import Cryptography
import Domain

/// Passes lines on as they are made.
struct ArchiveLines {
    static let version = 1

    private let write: ([UInt8]) throws -> Void
    private var digest = SHA256()
    private(set) var counts: [ConversionReport.Written] = []

    init(_ write: @escaping ([UInt8]) throws -> Void) { self.write = write }

    /// Writes `{"type":…,"data":{…}}` and a line break. Members that are nil are left out.
    mutating func append(_ type: String, _ data: [JSONValue.Member?]) throws {
        let line = Self.bytes(type, data)
        digest.update(line)
        if let index = counts.firstIndex(where: { $0.type == type }) {
            counts[index].count += 1
        } else {
            counts.append(.init(type: type, count: 1))
        }
        try write(line)
    }

    /// Writes the line `end`.
    mutating func finish() throws {
        let end: [JSONValue.Member] = [
            .init("lines", .integer(counts.reduce(0) { $0 + $1.count })),
            .init("counts", .object(counts.map { .init($0.type, .integer($0.count)) })),
            .init("sha256", .string(digest.finalize().hexadecimal)),
        ]
        try write(Self.bytes("end", end))
    }

    private static func bytes(_ type: String, _ data: [JSONValue.Member?]) -> [UInt8] {
        let line = JSONValue.object([
            .init("type", .string(type)), .init("data", .object(data.compactMap { $0 })),
        ])
        return line.compactText.utf8 + [UInt8(ascii: "\n")]
    }
}

extension JSONValue.Member {
    static func text(_ key: String, _ text: (some CustomStringConvertible)?) -> JSONValue.Member? {
        text.map { JSONValue.Member(key, .string($0.description)) }
    }
}
