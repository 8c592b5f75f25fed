// Random bytes for secrets, from libcrypto's generator (seeded by the kernel). Use Swift's own generator for anything
// else.
import COpenSSL

package enum RandomBytes {
    /// Returns `count` unpredictable bytes. Ends the process if the system has no randomness, because no secret can be
    /// made then.
    package static func make(count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            let made = RAND_bytes(buffer.baseAddress, Int32(count))
            precondition(made == 1, "the system returns no random bytes")
            written = count
        }
    }
}
