// Failures of password hashing. A wrong password is not an error: `verify` returns false.

import COpenSSL

package enum CredentialsError: Error, Equatable {
    /// The line of waiting passwords is full. The answer is 503 with `Retry-After`.
    case hasherBusy
    /// The stored text is not a password hash that this version reads. Shows nothing of its content.
    case malformedHash
    /// libcrypto failed, usually because memory ran out: its numeric error code (`openssl errstr`).
    case cryptoFailed(code: UInt)

    /// Takes libcrypto's error of the current thread.
    static func taken() -> CredentialsError {
        let code = ERR_get_error()
        ERR_clear_error()
        return .cryptoFailed(code: UInt(code))
    }
}
