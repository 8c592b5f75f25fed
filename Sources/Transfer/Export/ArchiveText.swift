// Lines of an archive as bytes.
import Basics
import Domain
import Store

package enum ArchiveText {
    /// The version of the format.
    package static let version = 1

    /// Returns `{"type":…,"data":…}` and a line break.
    package static func line(_ type: String, _ data: JSONValue) -> [UInt8] {
        JSONText(.object([.init("type", .string(type)), .init("data", data)])).utf8 + [UInt8(ascii: "\n")]
    }

    /// Returns lines of the database, each with a line break.
    static func lines(_ texts: [JSONText]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(texts.reduce(0) { $0 + $1.utf8.count + 1 })
        for text in texts {
            // The database may print line breaks in JSON, only between values.
            bytes.append(contentsOf: text.utf8.lazy.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    /// Returns a line with a piece of a file.
    static func piece(_ bytes: [UInt8], number: Int, of file: ArchiveFile) -> [UInt8] {
        let padding = String(repeating: "=", count: (3 - bytes.count % 3) % 3)
        return line(
            "attachment_data",
            .object([
                .init("id", .string(file.attachment.description)), .init("variant", .string("\(file.variant)")),
                .init("n", .integer(number)), .init("data", .string(Base64.standard.encode(bytes) + padding)),
            ]))
    }
}

extension ArchiveScope {
    /// The first line of an archive.
    /// - Parameter snapshotAt: RFC 3339.
    package func heading(at snapshotAt: String) -> [UInt8] {
        let filters: [(String, String?)] = [
            ("user", user?.description), ("thread", thread?.description), ("since", since?.description),
            ("until", until?.description),
        ]
        let given = filters.compactMap { name, value in value.map { JSONValue.Member(name, .string($0)) } }
        return ArchiveText.line(
            "archive",
            .object(
                [.init("version", .integer(ArchiveText.version)), .init("created_at", .string(snapshotAt))]
                    + (given.isEmpty ? [] : [.init("filter", .object(given))])))
    }
}
