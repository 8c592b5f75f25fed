// What can go wrong with passwords on our side. A wrong password is no error: `verify` answers false.

import COpenSSL

package enum CredentialsError: Error, Equatable {
    /// As many passwords as allowed wait already: answer 503 with `Retry-After`.
    case hasherBusy
    /// The stored string is no password hash that this version reads. Says nothing of its content.
    case malformedHash
    /// libcrypto refused, usually for want of memory: its numeric error code (`openssl errstr`).
    case cryptoFailed(code: UInt)

    /// Takes libcrypto's error of this thread.
    static func taken() -> CredentialsError {
        let code = ERR_get_error()
        ERR_clear_error()
        return .cryptoFailed(code: UInt(code))
    }
}
