// Comparison of secrets.
import COpenSSL

package enum ConstantTime {
    /// Whether the bytes are equal. The time depends on the counts only, not on where the bytes differ.
    package static func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.count == second.count && CRYPTO_memcmp(first, second, first.count) == 0
    }
}
