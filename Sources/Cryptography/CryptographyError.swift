// Failures of libcrypto. Input that is no key, no point or no valid signature is not an error: the answer is nil or false.
import COpenSSL

/// Why an operation of libcrypto failed, usually because memory ran out. Shows nothing of keys or texts.
package struct CryptographyError: Error, Equatable, CustomStringConvertible {
    /// Its numeric error code (`openssl errstr`); 0 if it names none.
    package let code: UInt

    /// libcrypto's reason, with the library and the code.
    package var description: String {
        guard code != 0 else { return "libcrypto names no reason" }
        var text = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(code, &text, text.count)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Takes libcrypto's error of the current thread, and clears its queue: libpq and libcurl use the same queue.
    static func taken() -> CryptographyError {
        let code = ERR_get_error()
        ERR_clear_error()
        return CryptographyError(code: UInt(code))
    }
}
