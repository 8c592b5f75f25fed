// A certificate with its key and the rules of TLS, as libssl wants them: what all connections of one pair share.

import CLibssl
import Glibc
import Synchronization

/// Owns an `SSL_CTX`. Connections keep the context with which they began.
final class TLSContext: Sendable {
    /// With forward secrecy and authenticated encryption. The three ciphers of TLS 1.3 have both anyway.
    private static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20"
    private static let applicationProtocol: StaticString = "http/1.1"

    /// SAFETY: this object owns the pointer from `init` to `deinit`. It is configured before another thread sees it.
    /// Later calls only read it or use what OpenSSL locks itself, as openssl-threads(7) allows.
    nonisolated(unsafe) let pointer: OpaquePointer
    /// Connections that use this context.
    let sessionCount = Atomic<Int>(0)

    /// Sets the rules. There is no certificate yet.
    private init() throws(TLSError) {
        ERR_clear_error()
        guard let pointer = SSL_CTX_new(TLS_server_method()) else { throw Self.setupError() }
        self.pointer = pointer
        guard parley_ssl_require_tls_1_2(pointer) == 1, SSL_CTX_set_cipher_list(pointer, Self.ciphers) == 1 else {
            throw Self.setupError()
        }
        SSL_CTX_set_options(pointer, parley_ssl_no_renegotiation)
        // 10,000 polls wait at a time, and none of them needs its buffers meanwhile.
        _ = parley_ssl_release_buffers(pointer)
        // Clients resume by tickets that they keep themselves.
        _ = parley_ssl_turn_off_cache(pointer)
        // Without this OpenSSL would ask for a passphrase on the terminal.
        SSL_CTX_set_default_passwd_cb(pointer, noPassphrase)
        SSL_CTX_set_alpn_select_cb(
            pointer,
            { _, name, byteCount, offer, offerByteCount, _ in
                TLSContext.selectProtocol(
                    name, byteCount, UnsafeBufferPointer(start: offer, count: Int(offerByteCount)))
            }, nil)
    }

    /// Reads the certificates and the key. Blocks for some milliseconds.
    convenience init(_ files: TLSFiles) throws(TLSError) {
        try self.init()
        try loadCertificates(files.certificate)
        try loadKey(files)
    }

    /// Creates a context with the same certificate and key that encrypts tickets with a new key.
    convenience init(renewing old: TLSContext) throws(TLSError) {
        try self.init()
        guard
            SSL_CTX_use_cert_and_key(
                pointer, SSL_CTX_get0_certificate(old.pointer), SSL_CTX_get0_privatekey(old.pointer),
                parley_ssl_chain(old.pointer), 1) == 1
        else { throw Self.setupError() }
    }

    deinit { SSL_CTX_free(pointer) }

    private func loadCertificates(_ path: String) throws(TLSError) {
        try Self.checkReadable("certificate", path)
        guard SSL_CTX_use_certificate_chain_file(pointer, path) != 1 else { return }
        let code = ERR_peek_error()
        // OpenSSL's other errors name parts of the format and say little about the user's file.
        guard ERR_GET_LIB(code) == ERR_LIB_SSL else { throw Self.notPEM("certificate", path) }
        throw TLSError(description: "The TLS certificate file \(path) can't be used: \(tlsErrorReason()).")
    }

    private func loadKey(_ files: TLSFiles) throws(TLSError) {
        try Self.checkReadable("key", files.key)
        guard let file = BIO_new_file(files.key, "r") else { throw Self.notPEM("key", files.key) }
        defer { BIO_free(file) }
        guard let key = PEM_read_bio_PrivateKey(file, nil, noPassphrase, nil) else {
            throw Self.notPEM("key", files.key)
        }
        // The context keeps its own reference.
        defer { EVP_PKEY_free(key) }
        guard SSL_CTX_use_PrivateKey(pointer, key) == 1, SSL_CTX_check_private_key(pointer) == 1 else {
            ERR_clear_error()
            throw TLSError(
                description: "The TLS key in \(files.key) does not match the certificate in \(files.certificate).")
        }
    }

    private static func checkReadable(_ what: String, _ path: String) throws(TLSError) {
        guard access(path, R_OK) != 0 else { return }
        throw TLSError(description: "The TLS \(what) file \(path) can't be read: \(String(cString: strerror(errno))).")
    }

    private static func notPEM(_ what: String, _ path: String) -> TLSError {
        ERR_clear_error()
        return TLSError(description: "The TLS \(what) file \(path) is not a PEM file.")
    }

    private static func setupError() -> TLSError {
        TLSError(description: "OpenSSL can't set up TLS: \(tlsErrorReason()).")
    }

    /// Selects HTTP/1.1 if the client offers it. A client with other protocols is answered as one that offers none.
    private static func selectProtocol(
        _ name: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ byteCount: UnsafeMutablePointer<UInt8>?,
        _ offer: UnsafeBufferPointer<UInt8>
    ) -> Int32 {
        let wanted = UnsafeBufferPointer(
            start: applicationProtocol.utf8Start, count: applicationProtocol.utf8CodeUnitCount)
        // Each name follows a byte with its length.
        var rest = offer[...]
        while let count = rest.popFirst(), rest.count >= Int(count) {
            if rest.prefix(Int(count)).elementsEqual(wanted) {
                // SAFETY: OpenSSL copies the name, and a static string has its bytes for ever.
                name?.pointee = wanted.baseAddress
                byteCount?.pointee = count
                return SSL_TLSEXT_ERR_OK
            }
            rest = rest.dropFirst(Int(count))
        }
        return SSL_TLSEXT_ERR_NOACK
    }
}

/// Tells OpenSSL that the passphrase of a file is unknown.
private func noPassphrase(
    _ buffer: UnsafeMutablePointer<CChar>?, _ byteCount: Int32, _ isWriting: Int32, _ data: UnsafeMutableRawPointer?
) -> Int32 { -1 }

/// Returns the first error of this thread's queue in OpenSSL's words, and clears the queue: libpq and libcurl use the
/// same queue.
func tlsErrorReason() -> String {
    let code = ERR_get_error()
    ERR_clear_error()
    return ERR_reason_error_string(code).map { String(cString: $0) } ?? "no reason given"
}
