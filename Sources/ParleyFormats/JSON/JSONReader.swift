// Reads JSON by RFC 8259. What the members of a request mean is in Domain/Requests/Fields.swift.

/// Which documents a reader accepts.
package struct JSONRules: Sendable {
    /// Unusual characters: U+0000, which PostgreSQL cannot store, and escapes of half a surrogate pair.
    package enum Characters: Sendable {
        case refused
        /// Both become U+FFFD.
        case replaced
        /// U+0000 stays. Swift has no halves of surrogate pairs: they become U+FFFD.
        case kept
    }

    /// The deepest nesting that is accepted. It bounds the recursion.
    package var depthMax = 32
    package var valueCountMax = Int.max
    /// No number of a request needs more. PostgreSQL and most clients accept more, but a number of a thousand digits is
    /// an attack.
    package var numberByteCountMax = 64
    package var characters = Characters.refused

    package init() {}

    package init(valueCountMax: Int) { self.valueCountMax = valueCountMax }

    package init(depthMax: Int, characters: Characters = .refused) {
        self.depthMax = depthMax
        self.characters = characters
    }

    /// The rules for requests.
    package static let strict = JSONRules()
}

/// Reads one JSON document in one pass. It recurses as deep as the document nests, which is bounded. Repeated keys and
/// text that is not UTF-8 are refused.
package struct JSONReader {
    /// The largest exponent, positive or negative. It covers all doubles. PostgreSQL's `numeric`, which `jsonb` uses,
    /// holds all such numbers of 64 characters: it has up to 131,072 digits before the point and 16,383 after it. It
    /// writes them without an exponent, so a looser bound would let a short number grow long.
    package static let exponentMax = 400
    /// A number of fewer characters without an exponent is certainly within a double's range.
    private static let numberByteCountInRange = 300

    /// Whether characters became U+FFFD.
    package private(set) var hasReplaced = false

    private let rules: JSONRules
    private var valuesLeft: Int
    private var at = 0

    package init(_ rules: JSONRules = .strict) {
        self.rules = rules
        valuesLeft = rules.valueCountMax
    }

    /// Returns the document in `bytes`. Costs about 5 ns a byte, and up to 1 µs a value.
    package static func read(_ bytes: Span<UInt8>, _ rules: JSONRules = .strict) throws(JSONError) -> JSONValue {
        var reader = JSONReader(rules)
        return try reader.document(bytes)
    }

    package static func read(_ bytes: [UInt8], _ rules: JSONRules = .strict) throws(JSONError) -> JSONValue {
        try read(bytes.span, rules)
    }

    /// Returns the document in `bytes`. Call it once.
    package mutating func document(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        skipSpace(bytes)
        let value = try value(bytes, depth: 0)
        skipSpace(bytes)
        guard at == bytes.count else { throw error(.trailingBytes) }
        return value
    }

    private func error(_ reason: JSONError.Reason) -> JSONError { JSONError(reason: reason, offset: at) }

    /// The current byte. Throws at the end.
    private func peek(_ bytes: Span<UInt8>) throws(JSONError) -> UInt8 {
        guard at < bytes.count else { throw error(.unexpectedEnd) }
        return bytes[at]
    }

    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        while at < bytes.count {
            switch bytes[at] {
            case 0x20, 0x0a, 0x0d, 0x09: at += 1
            default: return
            }
        }
    }

    private mutating func value(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) -> JSONValue {
        guard valuesLeft > 0 else { throw error(.tooManyValues) }
        valuesLeft -= 1
        switch try peek(bytes) {
        case Byte.quote: return .string(try string(bytes))
        case Byte.openBrace: return .object(try object(bytes, depth: depth + 1))
        case Byte.openBracket: return .array(try array(bytes, depth: depth + 1))
        case Byte.minus, Byte.zero...Byte.nine: return .number(JSONNumber(text: try number(bytes)))
        case UInt8(ascii: "t"): return try word("true", bytes, .bool(true))
        case UInt8(ascii: "f"): return try word("false", bytes, .bool(false))
        case UInt8(ascii: "n"): return try word("null", bytes, .null)
        default: throw error(.unexpectedByte)
        }
    }

    private mutating func word(
        _ word: StaticString, _ bytes: Span<UInt8>, _ value: JSONValue
    ) throws(JSONError) -> JSONValue {
        for index in 0..<word.utf8CodeUnitCount {
            guard try peek(bytes) == word.utf8Start[index] else { throw error(.unexpectedByte) }
            at += 1
        }
        return value
    }

    private mutating func array(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) -> [JSONValue] {
        guard depth <= rules.depthMax else { throw error(.tooDeep) }
        at += 1
        skipSpace(bytes)
        var items: [JSONValue] = []
        if try peek(bytes) == Byte.closeBracket {
            at += 1
            return items
        }
        while true {
            do {
                items.append(try value(bytes, depth: depth))
            } catch {
                throw error.inside("[\(items.count)]")
            }
            skipSpace(bytes)
            switch try peek(bytes) {
            case Byte.comma: at += 1
            case Byte.closeBracket:
                at += 1
                return items
            default: throw error(.unexpectedByte)
            }
            skipSpace(bytes)
        }
    }

    private mutating func object(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) -> [JSONValue.Member] {
        guard depth <= rules.depthMax else { throw error(.tooDeep) }
        at += 1
        skipSpace(bytes)
        var members: [JSONValue.Member] = []
        var keys = SeenKeys()
        if try peek(bytes) == Byte.closeBrace {
            at += 1
            return members
        }
        while true {
            guard try peek(bytes) == Byte.quote else { throw error(.unexpectedByte) }
            let key = try string(bytes)
            guard keys.insert(key, after: members) else { throw error(.repeatedKey) }
            skipSpace(bytes)
            guard try peek(bytes) == Byte.colon else { throw error(.unexpectedByte) }
            at += 1
            skipSpace(bytes)
            do {
                members.append(JSONValue.Member(key, try value(bytes, depth: depth)))
            } catch {
                throw error.inside(key)
            }
            skipSpace(bytes)
            switch try peek(bytes) {
            case Byte.comma: at += 1
            case Byte.closeBrace:
                at += 1
                return members
            default: throw error(.unexpectedByte)
            }
            skipSpace(bytes)
        }
    }

    private mutating func number(_ bytes: Span<UInt8>) throws(JSONError) -> String {
        let start = at
        if bytes[at] == Byte.minus { at += 1 }
        // No zero before other digits.
        if try peek(bytes) == Byte.zero { at += 1 } else { try digits(bytes) }
        var exponentStart: Int?
        if at < bytes.count, bytes[at] == UInt8(ascii: ".") {
            at += 1
            try digits(bytes)
        }
        if at < bytes.count, bytes[at] | 0x20 == UInt8(ascii: "e") {
            at += 1
            exponentStart = at
            let sign = try peek(bytes)
            if sign == Byte.minus || sign == UInt8(ascii: "+") { at += 1 }
            try digits(bytes)
        }
        guard at - start <= rules.numberByteCountMax else { throw error(.numberOutOfRange) }
        let text = try text(bytes, from: start)
        if exponentStart != nil || at - start > Self.numberByteCountInRange,
            !isInRange(text, exponent: exponentStart.map { $0 - start })
        {
            throw error(.numberOutOfRange)
        }
        return text
    }

    /// Whether a number is within a double's range: neither infinite, nor rounded to 0 without being 0.
    /// - Parameter exponent: the offset of the exponent's text.
    private func isInRange(_ text: String, exponent: Int?) -> Bool {
        let power = exponent.map { Int(text.suffix(text.utf8.count - $0)) } ?? 0
        guard let power, abs(power) <= Self.exponentMax, let value = Double(text), value.isFinite else { return false }
        // A number that is 0 as a double must have only zeros.
        let digits = text.utf8.prefix(exponent.map { $0 - 1 } ?? text.utf8.count)
        return value != 0 || !digits.contains { $0 > Byte.zero && $0 <= Byte.nine }
    }

    /// One or more digits.
    private mutating func digits(_ bytes: Span<UInt8>) throws(JSONError) {
        guard case Byte.zero...Byte.nine = try peek(bytes) else { throw error(.unexpectedByte) }
        while at < bytes.count, case Byte.zero...Byte.nine = bytes[at] { at += 1 }
    }

    /// A string, from its opening quote.
    private mutating func string(_ bytes: Span<UInt8>) throws(JSONError) -> String {
        at += 1
        let start = at
        while true {
            switch try peek(bytes) {
            case Byte.quote:
                let text = try text(bytes, from: start)
                at += 1
                return text
            case Byte.backslash: return try escapedString(bytes, from: start)
            case 0..<0x20: throw error(.unexpectedByte)
            default: at += 1
            }
        }
    }

    /// Reads the rest of a string from its first escape on. `start` is the offset of the string's text.
    private mutating func escapedString(_ bytes: Span<UInt8>, from start: Int) throws(JSONError) -> String {
        var text: [UInt8] = []
        var runStart = start
        while true {
            switch try peek(bytes) {
            case Byte.quote:
                append(bytes, from: runStart, to: &text)
                guard let string = text.withUnsafeBufferPointer(String.init(ifUTF8:)) else { throw error(.notUTF8) }
                at += 1
                return string
            case Byte.backslash:
                append(bytes, from: runStart, to: &text)
                at += 1
                text.append(contentsOf: UTF8.encode(try escape(bytes)) ?? UTF8.encodedReplacementCharacter)
                runStart = at
            case 0..<0x20: throw error(.unexpectedByte)
            default: at += 1
            }
        }
    }

    /// Appends the bytes from `start` up to the current byte.
    private func append(_ bytes: Span<UInt8>, from start: Int, to text: inout [UInt8]) {
        bytes.extracting(start..<at).withUnsafeBufferPointer { text.append(contentsOf: $0) }
    }

    /// Reads the rest of an escape after its backslash.
    private mutating func escape(_ bytes: Span<UInt8>) throws(JSONError) -> Unicode.Scalar {
        let letter = try peek(bytes)
        at += 1
        switch letter {
        case Byte.quote: return "\""
        case Byte.backslash: return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default:
            at -= 1
            throw error(.unexpectedByte)
        }
        let unit = try hexadecimalUnit(bytes)
        if let scalar = Unicode.Scalar(unit) { return unit == 0 ? try unusual(.nulCharacter, kept: scalar) : scalar }
        guard UTF16.isLeadSurrogate(UInt16(unit)), at + 1 < bytes.count, bytes[at] == Byte.backslash,
            bytes[at + 1] == UInt8(ascii: "u")
        else { return try unusual(.loneSurrogate) }
        let end = at
        at += 2
        let trail = try hexadecimalUnit(bytes)
        guard UTF16.isTrailSurrogate(UInt16(trail)),
            let scalar = Unicode.Scalar(0x1_0000 + (unit & 0x3ff) << 10 + trail & 0x3ff)
        else {
            let half = try unusual(.loneSurrogate)
            at = end  // The escape after the half is read by itself.
            return half
        }
        return scalar
    }

    /// Returns the character that the rules put in place of an unusual one, or throws.
    private mutating func unusual(
        _ reason: JSONError.Reason, kept scalar: Unicode.Scalar = "\u{fffd}"
    ) throws(JSONError) -> Unicode.Scalar {
        switch rules.characters {
        case .refused: throw error(reason)
        case .replaced:
            hasReplaced = true
            return "\u{fffd}"
        case .kept: return scalar
        }
    }

    /// Four hexadecimal digits: at most 0xffff.
    private mutating func hexadecimalUnit(_ bytes: Span<UInt8>) throws(JSONError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = try peek(bytes).hexadecimalDigit else { throw error(.unexpectedByte) }
            unit = unit << 4 | UInt32(digit)
            at += 1
        }
        return unit
    }

    /// The bytes from `start` up to the current byte, as text.
    private func text(_ bytes: Span<UInt8>, from start: Int) throws(JSONError) -> String {
        let text = bytes.extracting(start..<at).withUnsafeBufferPointer(String.init(ifUTF8:))
        guard let text else { throw error(.notUTF8) }
        return text
    }
}

/// The keys of an object that is being read. A few are compared one by one; many go into a set, so that an object of
/// ten thousand keys does not cost a hundred million comparisons.
private struct SeenKeys {
    private static let listCountMax = 16

    /// Equal by code points: `String`'s equality would merge more.
    private struct Key: Hashable {
        let text: String
        static func == (left: Key, right: Key) -> Bool { left.text.hasBytes(of: right.text) }
        func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    private var many: Set<Key> = []

    /// Returns false if the key is there already.
    mutating func insert(_ key: String, after members: [JSONValue.Member]) -> Bool {
        guard members.count >= Self.listCountMax else { return !members.contains { $0.key.hasBytes(of: key) } }
        if many.isEmpty { many.formUnion(members.map { Key(text: $0.key) }) }
        return many.insert(Key(text: key)).inserted
    }
}

extension String {
    /// Returns nil for bytes that are not UTF-8.
    fileprivate init?(ifUTF8 bytes: UnsafeBufferPointer<UInt8>) {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            self.init(validating: bytes, as: UTF8.self)
        } else {
            self.init(decoding: bytes, as: UTF8.self)
            guard utf8.elementsEqual(bytes) else { return nil }
        }
    }
}

/// The bytes of JSON's syntax.
package enum Byte {
    package static let quote = UInt8(ascii: "\"")
    package static let backslash = UInt8(ascii: "\\")
    package static let openBrace = UInt8(ascii: "{")
    package static let closeBrace = UInt8(ascii: "}")
    package static let openBracket = UInt8(ascii: "[")
    package static let closeBracket = UInt8(ascii: "]")
    package static let comma = UInt8(ascii: ",")
    package static let colon = UInt8(ascii: ":")
    package static let minus = UInt8(ascii: "-")
    package static let zero = UInt8(ascii: "0")
    package static let nine = UInt8(ascii: "9")
}
