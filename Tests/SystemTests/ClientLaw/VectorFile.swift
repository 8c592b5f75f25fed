// A recording as a file of Tests/ClientVectors, with ids, times and names that a second recording has, too.

import Foundation
import TestSupport
import Testing

/// A client vector as it is stored: one event, thread or message a line.
struct VectorFile {
    let name: String
    let text: String

    /// `PARLEY_VECTORS`, the folder to record to. Nil: recordings are compared with Tests/ClientVectors.
    private static let folder = ProcessInfo.processInfo.environment["PARLEY_VECTORS"].map { URL(filePath: $0) }

    /// - Parameters:
    ///   - about: one sentence: what the vector shows.
    ///   - user: the id of the user whose device was recorded.
    init(name: String, about: String, user: String, steps: [JSON]) throws {
        let indent = "\n        "
        let lines = try steps.map { indent + (try Self.layout(Self.withoutPresence($0), indent)) }
        let text = """
            {
                "about": "\(about)",
                "user": "\(user)",
                "steps": [\(lines.joined(separator: ","))
                ]
            }

            """
        self.name = name
        self.text = Self.repeatable(text)
    }

    /// Compares the recording with the stored file. A file that agrees stays as it is, so that a diff has only what has
    /// changed; one that differs is replaced while vectors are recorded, and fails the test otherwise.
    func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let file = (Self.folder ?? Repository.file("Tests/ClientVectors")).appending(path: name + ".json")
        let stored = try? JSON(parsing: try Data(contentsOf: file))
        let recorded = try JSON(parsing: Data(text.utf8))
        guard let difference = VectorComparison.difference(stored ?? .null, recorded) else { return }
        guard Self.folder == nil else { return try text.write(to: file, atomically: true, encoding: .utf8) }
        Issue.record(
            "The server differs from \(file.lastPathComponent). `make vectors` records it anew. \(difference)",
            sourceLocation: sourceLocation)
    }

    /// An object or array that is too long for a line has each of its members on a line. Items of arrays are not broken.
    private static func layout(_ value: JSON, _ indent: String) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        func line(_ value: JSON) throws -> String { String(decoding: try encoder.encode(value), as: UTF8.self) }
        let compact = try line(value)
        let inner = indent + "    "
        switch value {
        case .object(let members) where compact.count > 100:
            let lines = try members.sorted { $0.key < $1.key }.map {
                "\(inner)\(try line(.string($0))): \(try layout($1, inner))"
            }
            return "{\(lines.joined(separator: ","))\(indent)}"
        case .array(let items) where compact.count > 100:
            return "[\(try items.map { inner + (try line($0)) }.joined(separator: ","))\(indent)]"
        default: return compact
        }
    }

    private static func repeatable(_ text: String) -> String {
        // `unique` adds these numbers to names and titles.
        let named = text.replacing(#/ ?[0-9]+x[0-9]+"/#, with: "\"")
        let known = numbered(named, /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/) { number in
            "00000000-0000-7000-8000-" + String("000000000000\(number)".suffix(12))
        }
        return numbered(known, VectorComparison.time) { number in
            let time = Date(timeIntervalSince1970: 1_767_225_600 + Double(number))
            return time.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true)) + "Z"
        }
    }

    /// Replaces all matches, so that equal ones stay equal and all keep their order.
    private static func numbered(
        _ text: String, _ pattern: Regex<Substring>, _ replacement: (Int) -> String
    ) -> String {
        let found = Set(text.matches(of: pattern).map(\.output)).sorted()
        let numbers = Dictionary(zip(found, 1...)) { $1 }
        return text.replacing(pattern) { replacement(numbers[$0.output] ?? 0) }
    }

    /// Presence depends on the moment of the recording.
    private static func withoutPresence(_ value: JSON) -> JSON {
        switch value {
        case .array(let items): return .array(items.map(withoutPresence))
        case .object(var members):
            members = members.mapValues(withoutPresence)
            // An event `presence.updated` keeps it.
            if members["presence"] != nil, members["name"] != nil {
                members["presence"] = .null
                members["last_seen_at"] = .null
            }
            return .object(members)
        default: return value
        }
    }
}
