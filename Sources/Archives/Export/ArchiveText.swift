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

    /// Returns a line with data of the database.
    package static func line(_ type: StaticString, _ data: JSONText) -> [UInt8] {
        var line = JSONWriter(reserving: data.utf8.count + 64)
        line.raw("{\"type\":\"")
        line.raw(type)
        line.raw("\",\"data\":")
        line.raw(data)
        line.raw("}")
        return lines([JSONText(utf8: line.utf8)])
    }

    /// Returns lines of the database, each with a line break. White space between values is left out: the database prints
    /// some, and keeps what clients sent.
    package static func lines(_ texts: [JSONText]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(texts.reduce(0) { $0 + $1.utf8.count + 1 })
        for text in texts {
            append(text.utf8, to: &bytes)
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    private static func append(_ json: [UInt8], to bytes: inout [UInt8]) {
        var (isInString, isEscaped) = (false, false)
        for byte in json {
            if isInString {
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else {
                if byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { continue }
                isInString = byte == UInt8(ascii: "\"")
            }
            bytes.append(byte)
        }
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
