// One TLS connection as bytes in and bytes out: no channel, no I/O. Confined to the event loop of its connection.

import CLibssl
import Glibc
import NIOCore

/// Owns an `SSL`, which reads and writes two byte buffers instead of a socket.
///
/// After a call all received bytes are inside OpenSSL, at most one incomplete record of them. A quiet connection holds no
/// buffer: OpenSSL's own are freed, and those here are empty. Memory BIOs would keep the size of their largest content.
final class TLSSession {
    enum Outcome {
        case done
        /// OpenSSL needs more bytes from the client.
        case incomplete
        /// The client has sent its close_notify.
        case ended
        /// The connection is unusable. The output may hold an alert that tells the client why.
        case failed(reason: String)
    }

    /// The plaintext of a record, as TLS limits it.
    static let recordByteCountMax = 16 * 1024
    /// More than what encryption adds to a record: 5 bytes of header, and up to 24 with any cipher that is allowed.
    private static let recordOverhead = 64

    /// SAFETY: this object owns the pointer from `init` to `deinit`.
    private let ssl: OpaquePointer
    private let buffers = TLSBuffers()
    private let context: TLSContext

    init(_ context: TLSContext) throws(TLSError) {
        ERR_clear_error()
        guard let method = TLSBuffers.method, let ssl = SSL_new(context.pointer) else {
            throw TLSError(description: "OpenSSL has no memory for a connection: \(tlsErrorReason()).")
        }
        self.ssl = ssl
        self.context = context
        context.sessionCount.add(1, ordering: .relaxed)
        guard let bio = BIO_new(method) else {
            throw TLSError(description: "OpenSSL has no memory for a connection: \(tlsErrorReason()).")
        }
        // SAFETY: the BIO belongs to `ssl`, which is freed in `deinit`, while `buffers` still exists.
        BIO_set_data(bio, Unmanaged.passUnretained(buffers).toOpaque())
        BIO_set_init(bio, 1)
        // The same BIO for both directions counts as one reference.
        SSL_set_bio(ssl, bio, bio)
        SSL_set_accept_state(ssl)
    }

    deinit {
        SSL_free(ssl)
        context.sessionCount.subtract(1, ordering: .relaxed)
    }

    /// Adds bytes from the client. `handshake` or `read` must use all of them before the next ones are added.
    func receive(_ bytes: ByteBuffer) {
        if buffers.input.readableBytes == 0 {
            buffers.input = bytes
        } else {
            buffers.input.writeImmutableBuffer(bytes)
        }
    }

    /// Whether `read` may return something.
    var hasInput: Bool { buffers.input.readableBytes > 0 || SSL_pending(ssl) > 0 }

    /// Continues the handshake with the bytes that were received.
    func handshake() -> Outcome {
        ERR_clear_error()
        return outcome(SSL_do_handshake(ssl))
    }

    /// Decrypts up to one record.
    func read(_ allocator: ByteBufferAllocator) -> (bytes: ByteBuffer, outcome: Outcome) {
        // The plaintext is shorter than what arrived, unless the record began earlier. Then its rest is pending.
        let expected = max(buffers.input.readableBytes, Int(SSL_pending(ssl)))
        let capacity = min(Self.recordByteCountMax, max(1, expected))
        var bytes = allocator.buffer(capacity: capacity)
        var result: Int32 = 0
        ERR_clear_error()
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: capacity) { space in
            var count = 0
            result = SSL_read_ex(ssl, space.baseAddress, space.count, &count)
            return count
        }
        return (bytes, outcome(result))
    }

    /// Encrypts bytes. The handshake must be complete.
    func write(_ bytes: ByteBuffer) -> Outcome {
        let byteCount = bytes.readableBytes
        // OpenSSL leaves open what an empty write does.
        guard byteCount > 0 else { return .done }
        let recordCount = byteCount / Self.recordByteCountMax + 1
        buffers.output.reserveCapacity(minimumWritableBytes: byteCount + recordCount * Self.recordOverhead)
        ERR_clear_error()
        let result = bytes.withUnsafeReadableBytes { bytes in
            // The BIO accepts everything, so all is written or the connection is broken.
            var written = 0
            return SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &written)
        }
        return outcome(result)
    }

    /// Writes the close_notify. Bytes can still be read.
    func close() {
        ERR_clear_error()
        // The result says whether the client has closed, too.
        _ = SSL_shutdown(ssl)
        ERR_clear_error()
    }

    var outputByteCount: Int { buffers.output.readableBytes }

    /// Returns the bytes for the client.
    func takeOutput() -> ByteBuffer {
        let output = buffers.output
        buffers.output = ByteBuffer()
        return output
    }

    private func outcome(_ result: Int32) -> Outcome {
        guard result <= 0 else { return .done }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .incomplete
        case SSL_ERROR_ZERO_RETURN: return .ended
        default: return .failed(reason: tlsErrorReason())
        }
    }
}

/// The bytes between OpenSSL and the channel, and the calls by which OpenSSL reaches them.
private final class TLSBuffers {
    /// From the client, not read by OpenSSL yet.
    var input = ByteBuffer()
    /// The bytes for the client.
    var output = ByteBuffer()

    /// The kind of BIO that uses such buffers. Nil if there was no memory for it.
    /// SAFETY: never changed after it was made, and never freed.
    nonisolated(unsafe) static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "parley") else { return nil }
        BIO_meth_set_read(method) { bio, bytes, byteCount in
            guard let buffers = TLSBuffers.of(bio), let bytes, byteCount > 0 else { return -1 }
            parley_bio_clear_retry(bio)
            let count = min(Int(byteCount), buffers.input.readableBytes)
            guard count > 0 else {
                parley_bio_retry_read(bio)
                return -1
            }
            buffers.input.readWithUnsafeReadableBytes { source in
                // SAFETY: OpenSSL has room for `byteCount` bytes, and `source` has at least `count`.
                UnsafeMutableRawPointer(bytes).copyMemory(from: source.baseAddress!, byteCount: count)
                return count
            }
            // Drops the storage, too.
            if buffers.input.readableBytes == 0 { buffers.input = ByteBuffer() }
            return Int32(count)
        }
        BIO_meth_set_write(method) { bio, bytes, byteCount in
            guard let buffers = TLSBuffers.of(bio), let bytes, byteCount > 0 else { return -1 }
            parley_bio_clear_retry(bio)
            // SAFETY: OpenSSL has `byteCount` bytes there for the time of this call.
            buffers.output.writeBytes(UnsafeRawBufferPointer(start: bytes, count: Int(byteCount)))
            return byteCount
        }
        BIO_meth_set_ctrl(method) { _, command, _, _ in
            // Nothing is held back, so flushing always succeeds. 0 stands for "unknown" and "none".
            command == BIO_CTRL_FLUSH ? 1 : 0
        }
        return method
    }()

    private static func of(_ bio: OpaquePointer?) -> TLSBuffers? {
        // SAFETY: `TLSSession` has put the buffers there, and keeps them for longer than the BIO.
        BIO_get_data(bio).map { Unmanaged<TLSBuffers>.fromOpaque($0).takeUnretainedValue() }
    }
}
