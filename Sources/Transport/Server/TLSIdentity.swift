// TLS of the server's own: its certificate and key, and how they are taken up anew while it serves. Without it nothing
// of TLS is in a connection's pipeline.

import Glibc
import Logging
import NIOSSL
import Synchronization

/// Where the pair is, both PEM: the certificate with those that sign it behind it, and its key without a pass phrase.
package struct TLSFiles: Hashable, Sendable {
    package let certificate: String
    package let key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}

/// The pair can't be served with.
package struct TLSError: Error, CustomStringConvertible {
    /// One sentence, ready to be shown.
    package let description: String
}

/// The pair in use. A connection takes the one that is current when it begins, and keeps it.
package final class TLSIdentity: Sendable {
    /// How often the files are looked at; a change is taken up once they have stayed the same for as long.
    private static let lookInterval = Duration.seconds(1)

    private let files: TLSFiles
    private let context: Mutex<NIOSSLContext>
    private let changes: Mutex<FileChanges>

    /// Reads the files: some milliseconds of blocking.
    package init(_ files: TLSFiles) throws(TLSError) {
        self.files = files
        changes = Mutex(FileChanges(loaded: FileStamp.of(files)))
        context = Mutex(try Self.load(files))
    }

    func makeHandler() -> NIOSSLServerHandler {
        var configuration = NIOSSLServerHandler.Configuration()
        // What a large answer needed isn't kept for a poll that waits.
        configuration.maximumPreservedOutboundBufferCapacity = 4 * 1024
        return NIOSSLServerHandler(
            context: context.withLock { $0 }, customVerificationCallback: nil, configuration: configuration)
    }

    /// Takes up what becomes of the files until it is cancelled. A pair that is no good is logged once, and the last
    /// good one stays in use.
    package func follow(logger: Logger) async throws {
        while true {
            try await Task.sleep(for: Self.lookInterval)
            let stamp = FileStamp.of(files)
            guard changes.withLock({ $0.look(stamp) }) else { continue }
            do {
                let fresh = try Self.load(files)
                context.withLock { $0 = fresh }
                logger.notice("loaded a new TLS certificate; new connections use it")
            } catch {
                logger.error(
                    "loading the new TLS certificate failed; the old one stays in use", metadata: ["reason": "\(error)"]
                )
            }
        }
    }

    private static func load(_ files: TLSFiles) throws(TLSError) -> NIOSSLContext {
        let chain = try read("certificate", files.certificate) { try NIOSSLCertificate.fromPEMFile($0) }
        let key = try read("key", files.key) { try NIOSSLPrivateKey(file: $0, format: .pem) }
        guard !chain.isEmpty else {
            throw TLSError(description: "The TLS certificate file \(files.certificate) has no certificate.")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        // Whoever doesn't answer our goodbye isn't waited for.
        configuration.shutdownTimeout = .seconds(1)
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw TLSError(
                description: "The TLS key in \(files.key) does not match the certificate in \(files.certificate).")
        }
    }

    private static func read<Value>(
        _ what: String, _ path: String, _ body: (String) throws -> Value
    ) throws(TLSError) -> Value {
        // BoringSSL's errors name its own source files, and say little of ours.
        guard access(path, R_OK) == 0 else {
            throw TLSError(
                description: "The TLS \(what) file \(path) can't be read: \(String(cString: strerror(errno))).")
        }
        do {
            return try body(path)
        } catch {
            throw TLSError(description: "The TLS \(what) file \(path) is not a PEM file.")
        }
    }
}

/// By which a file that was written, replaced, or is now another behind a symbolic link is told from what it was.
struct FileStamp: Hashable {
    private let device: UInt64
    private let inode: UInt64
    private let byteCount: Int64
    private let changedNs: Int64

    /// Nil where there is no file.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        byteCount = Int64(status.st_size)
        changedNs = Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
    }

    static func of(_ files: TLSFiles) -> [FileStamp?] {
        [FileStamp(path: files.certificate), FileStamp(path: files.key)]
    }
}

/// When to read files that change one after the other: once both have stayed as they are from one look to the next.
struct FileChanges {
    private var loaded: [FileStamp?]
    private var seen: [FileStamp?]

    init(loaded: [FileStamp?]) {
        self.loaded = loaded
        seen = loaded
    }

    /// Whether to read them now.
    mutating func look(_ now: [FileStamp?]) -> Bool {
        defer { seen = now }
        guard now != loaded, now == seen else { return false }
        loaded = now
        return true
    }
}
