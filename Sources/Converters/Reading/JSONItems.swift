// Reads large JSON documents piece by piece: the entries of an array, or of the arrays that an object has.
import Domain

/// A JSON document of which one entry at a time is in memory.
final class JSONItems {
    static let itemByteCountMax = 64 * 1024 * 1024

    /// An entry of the top array (`key` is nil), an entry of an array under a key, or another value under a key
    /// (`index` is nil).
    struct Item {
        var key: String?
        var index: Int?
        var value: JSONValue

        /// As `zerver_stream[3]`.
        static func place(_ key: String?, _ index: Int?) -> String { (key ?? "") + (index.map { "[\($0)]" } ?? "") }
        var place: String { Self.place(key, index) }
    }

    private let name: String
    private let reader: ByteReader
    private var buffer: [UInt8] = []
    private var at = 0
    private(set) var wasRepaired = false

    /// - Parameters:
    ///   - path: absolute.
    ///   - name: for messages.
    init(_ path: String, name: String) throws {
        self.name = name
        reader = try ByteReader(path)
    }

    /// Passes on all entries, in their order. Entries under keys that `wants` refuses are skipped unread.
    func forEach(wants: (String) -> Bool = { _ in true }, _ body: (Item) throws -> Void) throws {
        switch try peek("") {
        case UInt8(ascii: "["): try array(key: nil, isWanted: true, body)
        case UInt8(ascii: "{"): try object(wants, body)
        default: throw ConversionError(file: name, "not a JSON array or object")
        }
        guard try skipSpace() == nil else { throw ConversionError(file: name, "text after the end of the JSON") }
    }

    private func object(_ wants: (String) -> Bool, _ body: (Item) throws -> Void) throws {
        at += 1
        if try peek("") == UInt8(ascii: "}") {
            at += 1
            return
        }
        while true {
            _ = try peek("")
            guard let key = try parsed("a key").string else { throw ConversionError(file: name, "a key is no string") }
            guard try peek(key) == UInt8(ascii: ":") else { throw ConversionError(file: name, place: key, "no colon") }
            at += 1
            let isWanted = wants(key)
            if try peek(key) == UInt8(ascii: "[") {
                try array(key: key, isWanted: isWanted, body)
            } else {
                let bytes = try scan(key)
                if isWanted { try body(Item(key: key, index: nil, value: try read(bytes, key))) }
            }
            guard try hasNext(UInt8(ascii: "}"), key) else { return }
        }
    }

    private func array(key: String?, isWanted: Bool, _ body: (Item) throws -> Void) throws {
        at += 1
        var index = 0
        if try peek(key ?? "") == UInt8(ascii: "]") {
            at += 1
            return
        }
        while true {
            let place = Item.place(key, index)
            _ = try peek(place)
            let bytes = try scan(place)
            if isWanted { try body(Item(key: key, index: index, value: try read(bytes, place))) }
            index += 1
            guard try hasNext(UInt8(ascii: "]"), place) else { return }
        }
    }

    /// Skips a comma (true) or the end of the list (false).
    private func hasNext(_ end: UInt8, _ place: String) throws -> Bool {
        let byte = try peek(place)
        guard byte == UInt8(ascii: ",") || byte == end else {
            throw ConversionError(file: name, place: place, "no comma after the entry. The export is damaged.")
        }
        at += 1
        return byte != end
    }

    private func parsed(_ place: String) throws -> JSONValue { try read(try scan(place), place) }

    private func read(_ bytes: [UInt8], _ place: String) throws -> JSONValue {
        try JSONSource.read(bytes, file: name, place: place, wasRepaired: &wasRepaired)
    }

    /// The bytes of the value that begins here.
    private func scan(_ place: String) throws -> [UInt8] {
        var (depth, end, isInString) = (0, at, false)
        while true {
            guard end < buffer.count else {
                end -= at
                guard try fill(place) else {
                    guard depth == 0, !isInString, end > 0 else { throw cut(place) }
                    return take(end + at)
                }
                end += at
                continue
            }
            let byte = buffer[end]
            if isInString {
                if byte == UInt8(ascii: "\\") { end += 1 }
                if byte == UInt8(ascii: "\"") {
                    isInString = false
                    if depth == 0 { return take(end + 1) }
                }
            } else {
                switch byte {
                case UInt8(ascii: "\""): isInString = true
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"):
                    depth -= 1
                    if depth < 0 { return take(end) }
                    if depth == 0 { return take(end + 1) }
                case UInt8(ascii: ","), 0x20, 0x09, 0x0a, 0x0d: if depth == 0 { return take(end) }
                default: break
                }
            }
            end += 1
        }
    }

    private func take(_ end: Int) -> [UInt8] {
        defer { at = min(end, buffer.count) }
        return Array(buffer[at..<min(end, buffer.count)])
    }

    private func cut(_ place: String) -> ConversionError {
        ConversionError(file: name, place: place, "the file ends here. The export is cut off: export or copy it again.")
    }

    /// Reads more bytes behind those from `at` on, which move to the front. False at the end of the file.
    private func fill(_ place: String) throws -> Bool {
        buffer.removeSubrange(..<min(at, buffer.count))
        at = 0
        guard buffer.count <= Self.itemByteCountMax else {
            throw ConversionError(file: name, place: place, "the entry is larger than 64 MiB")
        }
        guard let chunk = try reader.next() else { return false }
        buffer += chunk
        return true
    }

    private func skipSpace() throws -> UInt8? {
        while true {
            while at < buffer.count {
                switch buffer[at] {
                case 0x20, 0x09, 0x0a, 0x0d: at += 1
                default: return buffer[at]
                }
            }
            guard try fill("") else { return nil }
        }
    }

    private func peek(_ place: String) throws -> UInt8 {
        guard let byte = try skipSpace() else { throw cut(place) }
        return byte
    }
}
