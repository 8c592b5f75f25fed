// Bytes of published examples.
import Basics
import Cryptography
import Testing

/// The bytes of hexadecimal digits; spaces and line breaks are ignored.
func bytes(hex: String) -> [UInt8] {
    [UInt8](hexadecimal: hex.filter { !$0.isWhitespace }) ?? []
}

/// The bytes of a text in base64url.
func bytes(base64: String) throws -> [UInt8] { try #require(Base64.urlSafe.decode(base64)) }

extension [UInt8] {
    /// All copies of these bytes in which one bit of a byte is changed.
    var damaged: [[UInt8]] {
        indices.map { index in
            var copy = self
            copy[index] ^= 1 << (index % 8)
            return copy
        }
    }
}
