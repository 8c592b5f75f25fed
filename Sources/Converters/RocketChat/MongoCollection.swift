// The documents of one collection of MongoDB, from mongoexport (JSON) or mongodump (BSON).
import Domain

/// Finds the file of a collection and reads one document at a time.
struct MongoCollection {
    let name: String
    /// The path within the export.
    let file: String

    /// Returns nil if the export does not have the collection.
    init?(_ name: String, in folder: ExportFolder) throws {
        let files = ["\(name).bson", "\(name).json", "\(name).jsonl"]
        guard let file = try files.first(where: { try folder.file($0) != nil }) else {
            if try folder.file("\(name).bson.gz") != nil {
                throw ConversionError("\(name).bson.gz is compressed. Unpack it with gunzip, or dump without --gzip.")
            }
            return nil
        }
        (self.name, self.file) = (name, file)
    }

    /// Passes on each document with its place.
    func forEach(_ builder: ArchiveBuilder, _ body: (JSONValue, String) throws -> Void) throws {
        let path = try builder.folder.required(file)
        if file.hasSuffix(".bson") {
            try forEachBSON(path, body)
        } else if try Self.isArray(path) {
            try builder.read(file) { try body($0.value, "\(file), \($0.place)") }
        } else {
            try builder.readLines(file, body)
        }
    }

    /// mongoexport --jsonArray.
    private static func isArray(_ path: String) throws -> Bool {
        try ByteReader(path).next(64)?.first { $0 > 0x20 } == UInt8(ascii: "[")
    }

    private func forEachBSON(_ path: String, _ body: (JSONValue, String) throws -> Void) throws {
        let reader = try ByteReader(path)
        var buffer: [UInt8] = []
        var (at, number) = (0, 1)
        // Reads until this many bytes are available. False at the end of the file.
        func has(_ byteCount: Int) throws -> Bool {
            if buffer.count - at >= byteCount { return true }
            buffer.removeSubrange(..<at)
            at = 0
            while buffer.count < byteCount {
                guard let chunk = try reader.next() else { return false }
                buffer += chunk
            }
            return true
        }
        while try has(1) {
            let place = "document \(number)"
            guard try has(4) else { throw Self.cut(file, place) }
            let byteCount = buffer[at..<at + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
            guard (5...BSONReader.documentByteCountMax).contains(byteCount) else {
                throw ConversionError(file: file, place: place, "a wrong length. The dump is damaged: dump again.")
            }
            guard try has(byteCount) else { throw Self.cut(file, place) }
            try body(try read(Array(buffer[at..<at + byteCount]), place), "\(file), \(place)")
            at += byteCount
            number += 1
        }
    }

    private static func cut(_ file: String, _ place: String) -> ConversionError {
        ConversionError(file: file, place: place, "the file ends here. The dump is cut off: dump again.")
    }

    private func read(_ bytes: [UInt8], _ place: String) throws -> JSONValue {
        do {
            return try BSONReader.read(bytes)
        } catch let damage as BSONReader.Damage {
            throw ConversionError(
                file: file, place: place,
                "not valid BSON at byte \(damage.offset) (\(damage.reason)). The dump is damaged: dump again.")
        }
    }
}

extension JSONValue {
    /// A text, a number, or an object id.
    func mongoID(_ key: String) -> String? {
        guard let value = self[key] else { return nil }
        return value.string ?? value["$oid"]?.string ?? value.integer.map { String($0) }
    }

    /// A date in any form that mongoexport has: milliseconds, `{"$numberLong":"…"}`, or RFC 3339.
    func mongoDate(_ key: String) -> Timestamp? {
        guard let value = self[key] else { return nil }
        let date = value["$date"] ?? value
        if let text = date.string { return Timestamp(parsing: text) }
        let number = date["$numberLong"]?.string.flatMap { Int64($0) } ?? date.integer
        return number.flatMap { Timestamp(milliseconds: $0) }
    }
}
