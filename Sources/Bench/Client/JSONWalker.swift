// Reads JSON answers in place, without building values.
import Glibc

/// A position in a JSON text. It expects valid JSON: commas and literals are skipped without a check. About 0.5 ns a
/// byte.
package struct JSONWalker {
    private let bytes: UnsafeRawBufferPointer
    private var at = 0

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    private func unexpected() -> BadResponse { BadResponse(description: "unexpected JSON at byte \(at)") }

    /// Returns the next byte that is no space, comma or colon.
    private mutating func peek() throws(BadResponse) -> UInt8 {
        while at < bytes.count {
            let byte = bytes[at]
            switch byte {
            case 0x20, 0x0a, 0x0d, 0x09, UInt8(ascii: ","), UInt8(ascii: ":"): at += 1
            default: return byte
            }
        }
        throw unexpected()
    }

    package mutating func enterObject() throws(BadResponse) {
        guard try peek() == UInt8(ascii: "{") else { throw unexpected() }
        at += 1
    }

    package mutating func enterArray() throws(BadResponse) {
        guard try peek() == UInt8(ascii: "[") else { throw unexpected() }
        at += 1
    }

    /// Returns the next key of the current object as written. Returns nil at the end of the object, and leaves it.
    package mutating func key() throws(BadResponse) -> UnsafeRawBufferPointer? {
        if try peek() == UInt8(ascii: "}") {
            at += 1
            return nil
        }
        return try string()
    }

    /// Returns whether the current array has another item. At its end it leaves the array.
    package mutating func hasItem() throws(BadResponse) -> Bool {
        guard try peek() == UInt8(ascii: "]") else { return true }
        at += 1
        return false
    }

    /// Reads a string as written, with escapes and without its quotes.
    package mutating func string() throws(BadResponse) -> UnsafeRawBufferPointer {
        guard try peek() == Self.quote else { throw unexpected() }
        let start = at + 1
        try skipString()
        return UnsafeRawBufferPointer(rebasing: bytes[start..<at - 1])
    }

    /// Reads a whole number.
    package mutating func integer() throws(BadResponse) -> Int64 {
        _ = try peek()
        let start = at
        var value: Int64 = 0
        while at < bytes.count, case UInt8(ascii: "0")...UInt8(ascii: "9") = bytes[at], at - start < 18 {
            value = value * 10 + Int64(bytes[at] - UInt8(ascii: "0"))
            at += 1
        }
        guard at > start else { throw unexpected() }
        return value
    }

    package mutating func bool() throws(BadResponse) -> Bool {
        let isTrue = try peek() == UInt8(ascii: "t")
        try skip()
        return isTrue
    }

    /// Skips a value of any kind.
    package mutating func skip() throws(BadResponse) {
        var depth = 0
        repeat {
            switch try peek() {
            case Self.quote: try skipString()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                at += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                at += 1
            default: try skipWord()
            }
        } while depth > 0
        guard depth == 0 else { throw unexpected() }
    }

    private mutating func skipWord() throws(BadResponse) {
        let start = at
        word: while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0...0x20: break word
            default: at += 1
            }
        }
        // No progress, because of a control character: a walk through an array would never end.
        guard at > start else { throw unexpected() }
    }

    private mutating func skipString() throws(BadResponse) {
        guard let base = bytes.baseAddress else { throw unexpected() }
        let start = at + 1
        at = start
        while let found = memchr(base + at, CInt(Self.quote), bytes.count - at) {
            let end = UnsafeRawPointer(found) - base
            at = end + 1
            // A quote after an odd number of backslashes is part of the text.
            var backslashes = 0
            while end - backslashes > start, bytes[end - backslashes - 1] == Self.backslash { backslashes += 1 }
            if backslashes % 2 == 0 { return }
        }
        throw unexpected()
    }
}

extension UnsafeRawBufferPointer {
    func equals(_ word: StaticString) -> Bool {
        guard count == word.utf8CodeUnitCount, let baseAddress else { return false }
        return memcmp(baseAddress, word.utf8Start, count) == 0
    }
}
