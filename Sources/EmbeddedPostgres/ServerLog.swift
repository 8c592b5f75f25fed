// The file that the server writes its log to, bounded at each start, and the sentence in it that says what is wrong.

import Glibc
import Linux

/// The log, open for a server's output. Its descriptors are closed with it.
final class ServerLog: Sendable {
    /// Past this many bytes the log is put aside at a start, replacing the one put aside before.
    static let byteCountMax = 10 << 20

    let file: Int32
    /// For standard input.
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

    /// Opens the log, or begins it. Root's goes to the server's user, who may start the server himself one day.
    static func open(_ path: String, owner: Account? = nil) throws -> ServerLog {
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

    /// What was written since then, its end if that is more than 64 KiB.
    func text(since start: Int) -> String {
        let text = (try? Files.tail(path, byteCountMax: min(65_536, max(0, byteCount - start)))) ?? nil
        return text ?? ""
    }

    /// The words that say why: the last PANIC, FATAL or ERROR with its hint, initdb's error, else the last line.
    static func reason(in text: String) -> String {
        let lines = text.split(separator: "\n").map(String.init)
        func last(_ mark: String) -> String? {
            lines.compactMap { line in
                line.firstRange(of: mark).map { String(line[$0.upperBound...].drop { $0 == " " }) }
            }.last
        }
        for mark in ["PANIC:", "FATAL:", "ERROR:", "error:", "setpriv:"] {
            guard let words = last(mark) else { continue }
            // A bad setting is named in a line before.
            let detail = words.hasSuffix("contains errors") ? last("LOG:") : last("HINT:")
            return detail.map { "\(words) (\($0))" } ?? words
        }
        return lines.last ?? "it said nothing"
    }
}
