// Writes a recording to Tests/ClientVectors, with ids, times and names that a second recording has, too.

import Foundation
import TestSupport

/// A client vector as it is stored: one step a line.
struct VectorFile {
    let name: String
    /// One sentence: what the vector shows.
    let about: String
    let steps: [JSON]

    /// The folder to write to: `PARLEY_VECTORS`. Nil: nothing is written.
    static let folder = ProcessInfo.processInfo.environment["PARLEY_VECTORS"].map { URL(filePath: $0) }

    func write(to folder: URL, people: [Person]) throws {
        let cleaned = steps.map(Self.withoutPresence)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let lines = try cleaned.map { "        " + String(decoding: try encoder.encode($0), as: UTF8.self) }
        var text = """
            {
                "about": "\(about)",
                "user": "\(people[0].id)",
                "steps": [
            \(lines.joined(separator: ",\n"))
                ]
            }

            """
        for person in people {
            let name = person.username.replacing(/[0-9]+x[0-9]+$/, with: "")
            text = text.replacing(person.username, with: name)
        }
        // `unique` adds these numbers to titles.
        text = text.replacing(#/ [0-9]+x[0-9]+"/#, with: "\"")
        text = Self.numbered(text, /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/) { number in
            "00000000-0000-7000-8000-" + String("000000000000\(number)".suffix(12))
        }
        text = Self.numbered(text, /202[0-9]-[0-9-]{5}T[0-9:]{8}\.[0-9]{3}Z/) { number in
            let time = Date(timeIntervalSince1970: 1_767_225_600 + Double(number))
            return time.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true)) + "Z"
        }
        try text.write(to: folder.appending(path: name + ".json"), atomically: true, encoding: .utf8)
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
