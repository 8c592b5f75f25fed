// The server's log file: bounded at each start, and searched for the reason when a start fails.

import Glibc
import Linux

/// The log, open for a server's output. Its descriptors are closed with it.
final class ServerLog: Sendable {
    /// At a start, a longer log is renamed to `….old`, which replaces the one before.
    static let byteCountMax = 10 << 20

    let file: Int32
    /// The descriptor for standard input.
    let null: Int32
    private let path: String

    private init(path: String, file: Int32, null: Int32) {
        self.path = path
        self.file = file
        self.null = null
    }

    deinit {
        close(file)
        close(null)
    }

    /// Opens the log, and creates it if it is missing. If root runs Parley, `owner` gets the file: that user may start
    /// the server without Parley later.
    static func open(_ path: String, owner: SystemAccount? = nil) throws -> ServerLog {
        if let status = try Files.status(path), status.st_size > byteCountMax { _ = rename(path, path + ".old") }
        let null = Glibc.open("/dev/null", O_RDWR | O_CLOEXEC)
        guard null >= 0 else { throw FileError("open", "/dev/null") }
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            defer { close(null) }
            throw FileError("write", path)
        }
        if let owner { _ = fchown(file, owner.userID, owner.groupID) }
        return ServerLog(path: path, file: file, null: null)
    }

    var byteCount: Int { Int(lseek(file, 0, SEEK_END)) }

    /// Returns the text from byte `start` on; only the last 64 KiB if it is longer.
    func text(since start: Int) -> String {
        let text = (try? Files.tail(path, byteCountMax: min(65_536, max(0, byteCount - start)))) ?? nil
        return text ?? ""
    }

    /// Returns the reason for a failure: the last PANIC, FATAL or ERROR with its hint, or the error of initdb or
    /// setpriv. Otherwise the last line.
    static func reason(in text: String) -> String {
        let lines = text.split(separator: "\n").map(String.init)
        func last(_ mark: String) -> String? {
            lines.compactMap { line in
                line.firstRange(of: mark).map { String(line[$0.upperBound...].drop { $0 == " " }) }
            }.last
        }
        for mark in ["PANIC:", "FATAL:", "ERROR:", "error:", "setpriv:"] {
            guard let words = last(mark) else { continue }
            // An earlier LOG line names the invalid setting.
            let detail = words.hasSuffix("contains errors") ? last("LOG:") : last("HINT:")
            return detail.map { "\(words) (\($0))" } ?? words
        }
        return lines.last ?? "it printed nothing"
    }
}
