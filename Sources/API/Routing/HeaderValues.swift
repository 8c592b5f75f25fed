// Parsers of header values. A client may send 32 KiB of anything in one, and it is read on an event loop. So each
// parser makes one pass over bytes and a limited number of elements, without regular expressions and Swift characters.
import Domain

/// The elements of a list value, in order, without the spaces and tabs around them.
struct HeaderList: Sequence, IteratorProtocol {
    private let separator: UInt8
    private var rest: Substring.UTF8View?
    private var elementsLeft: Int

    /// - Parameter countMax: the number of elements returned. The rest of the value is ignored.
    init(_ value: Substring.UTF8View, separator: Unicode.Scalar, countMax: Int) {
        self.separator = UInt8(ascii: separator)
        rest = value
        elementsLeft = countMax
    }

    mutating func next() -> Substring.UTF8View? {
        guard elementsLeft > 0, let value = rest else { return nil }
        elementsLeft -= 1
        guard let end = value.firstIndex(of: separator) else {
            rest = nil
            return value.trimmed
        }
        rest = value[value.index(after: end)...]
        return value[..<end].trimmed
    }
}

extension Substring.UTF8View {
    /// The value without the spaces and tabs around it (RFC 9110, 5.6.3).
    var trimmed: Substring.UTF8View {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        let start = drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return start }
        return start[...last]
    }

    /// Compares with `word`, which is in lower case, without regard to case.
    func equals(ignoringCase word: StaticString) -> Bool {
        guard count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { $0.elementsEqual(self.lazy.map { (65...90).contains($0) ? $0 | 0x20 : $0 }) }
    }

    /// The name and the value of `name=value`. Nil without `=`.
    var pair: (name: Substring.UTF8View, value: Substring.UTF8View)? {
        guard let mark = firstIndex(of: UInt8(ascii: "=")) else { return nil }
        return (self[..<mark].trimmed, self[index(after: mark)...].trimmed)
    }
}

/// Reads an `Accept` header (RFC 9110, 12.5.1).
enum AcceptHeader {
    /// Real headers have a handful. The rest is ignored.
    static let rangeCountMax = 16
    static let parameterCountMax = 8

    /// Whether the header names `type` with a quality above 0.
    static func names(_ type: StaticString, in accept: String) -> Bool {
        HeaderList(accept[...].utf8, separator: ",", countMax: rangeCountMax).contains { range in
            var parts = HeaderList(range, separator: ";", countMax: 1 + parameterCountMax)
            guard let name = parts.next(), name.equals(ignoringCase: type) else { return false }
            return !parts.contains(where: isQualityOfZero)
        }
    }

    /// `q=0`, `q=0.` and `q=0.000`.
    private static func isQualityOfZero(_ parameter: Substring.UTF8View) -> Bool {
        guard let (name, value) = parameter.pair, name.equals(ignoringCase: "q"), value.first == UInt8(ascii: "0")
        else {
            return false
        }
        let rest = value.dropFirst()
        return rest.isEmpty
            || rest.first == UInt8(ascii: ".") && rest.dropFirst().allSatisfy { $0 == UInt8(ascii: "0") }
    }
}

/// Reads a `Prefer` header (RFC 7240).
enum PreferHeader {
    static let preferenceCountMax = 16

    /// The seconds of the first valid `wait`. May be negative.
    static func waitS(in prefer: String) -> Int? {
        for preference in HeaderList(prefer[...].utf8, separator: ",", countMax: preferenceCountMax) {
            var parts = HeaderList(preference, separator: ";", countMax: 1)
            guard let (name, value) = parts.next()?.pair, name.equals(ignoringCase: "wait"), value.count <= 10,
                let seconds = Int(Substring(value))
            else { continue }
            return seconds
        }
        return nil
    }
}

/// Reads an `Authorization` header (RFC 6750).
enum AuthorizationHeader {
    /// The longest possible admin token. A session token is much shorter.
    private static let tokenByteCountMax = 1_024

    /// The token of the scheme `Bearer`. Nil for another scheme, and for a text that is too long for a token.
    static func bearerToken(in authorization: String) -> Substring? {
        let bytes = authorization[...].utf8
        let scheme = bytes.prefix(6)
        guard bytes.count <= tokenByteCountMax + 16, scheme.equals(ignoringCase: "bearer"),
            bytes.dropFirst(6).first == UInt8(ascii: " ")
        else { return nil }
        return Substring(bytes.dropFirst(6).trimmed)
    }
}

/// Reads a `Content-Type` header (RFC 9110, 8.3).
enum ContentTypeHeader {
    private static let byteCountMax = 256

    /// Whether the type is JSON: `application/json`, or `application/…+json`.
    static func isJSON(_ type: String) -> Bool {
        // Most clients send exactly this.
        if type == "application/json" { return true }
        var parts = HeaderList(type[...].utf8, separator: ";", countMax: 1)
        guard let media = parts.next(), media.count <= byteCountMax else { return false }
        return media.equals(ignoringCase: "application/json")
            || media.prefix(12).equals(ignoringCase: "application/") && media.suffix(5).equals(ignoringCase: "+json")
    }

    /// Whether the type is that of a form: `application/x-www-form-urlencoded`.
    static func isForm(_ type: String) -> Bool {
        var parts = HeaderList(type[...].utf8, separator: ";", countMax: 1)
        return parts.next()?.equals(ignoringCase: "application/x-www-form-urlencoded") ?? false
    }
}
