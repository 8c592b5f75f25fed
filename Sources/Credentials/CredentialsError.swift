// Failures of password hashing. A wrong password is not an error: `verify` returns false. If libcrypto fails, the error is
// a CryptographyError.

package enum CredentialsError: Error, Equatable {
    /// The line of waiting passwords is full. The answer is 503 with `Retry-After`.
    case hasherBusy
    /// The stored text is not a password hash that this version reads. Shows nothing of its content.
    case malformedHash
}
