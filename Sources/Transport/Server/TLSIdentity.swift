// The server's own TLS: the certificate and its key, and how new files are loaded while it serves. Without TLS a
// connection's pipeline has no TLS handler.

import Glibc
import Logging
import Synchronization

/// The paths of two PEM files: the certificate followed by its issuers, and the key without a passphrase.
package struct TLSFiles: Hashable, Sendable {
    package let certificate: String
    package let key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}

/// The certificate or the key cannot be used.
package struct TLSError: Error, CustomStringConvertible {
    /// One sentence that can be shown as it is.
    package let description: String
}

/// The certificate and key in use. A connection keeps the pair that was current when it began.
package final class TLSIdentity: Sendable {
    /// How often the files are checked. A change is loaded once the files have stayed the same for this long.
    private static let checkInterval = Duration.seconds(1)

    /// How long one key encrypts the tickets by which clients resume sessions. A stolen key opens no older ticket.
    private static let ticketKeyLifetime = Duration.seconds(24 * 60 * 60)

    private let files: TLSFiles
    private let current: Mutex<TLSContext>
    private let changes: Mutex<FileChanges>

    /// Reads the files. Blocks for some milliseconds.
    package init(_ files: TLSFiles) throws(TLSError) {
        self.files = files
        changes = Mutex(FileChanges(loaded: FileStamp.of(files)))
        current = Mutex(try TLSContext(files))
    }

    /// The context of new connections.
    var context: TLSContext { current.withLock { $0 } }

    func makeHandler() throws(TLSError) -> TLSHandler { TLSHandler(try TLSSession(context)) }

    /// Loads changed files until cancelled. An unusable pair is logged once, and the previous pair stays in use.
    package func follow(logger: Logger) async throws {
        var ticketKeyEnd = ContinuousClock.now + Self.ticketKeyLifetime
        while true {
            try await Task.sleep(for: Self.checkInterval)
            if ContinuousClock.now >= ticketKeyEnd {
                ticketKeyEnd += Self.ticketKeyLifetime
                // Fails only without memory. Then the key stays for another day.
                try? renewTicketKey()
            }
            let stamp = FileStamp.of(files)
            guard changes.withLock({ $0.check(stamp) }) else { continue }
            do {
                let fresh = try TLSContext(files)
                current.withLock { $0 = fresh }
                logger.notice("loaded a new TLS certificate; new connections use it")
            } catch {
                logger.error(
                    "loading the new TLS certificate failed; the old one stays in use", metadata: ["reason": "\(error)"]
                )
            }
        }
    }

    /// Makes earlier tickets useless: their clients do a whole handshake again.
    func renewTicketKey() throws(TLSError) {
        let fresh = try TLSContext(renewing: context)
        current.withLock { $0 = fresh }
    }
}

/// Identifies a version of a file: written, replaced, or another target of a symbolic link.
struct FileStamp: Hashable {
    private let device: UInt64
    private let inode: UInt64
    private let byteCount: Int64
    private let changedNs: Int64

    /// Returns nil if there is no file.
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

/// Decides when to load files that change one after the other: once both are the same in two consecutive checks.
struct FileChanges {
    private var loaded: [FileStamp?]
    private var seen: [FileStamp?]

    init(loaded: [FileStamp?]) {
        self.loaded = loaded
        seen = loaded
    }

    /// Returns whether to load the files now.
    mutating func check(_ now: [FileStamp?]) -> Bool {
        defer { seen = now }
        guard now != loaded, now == seen else { return false }
        loaded = now
        return true
    }
}
