// The file with the keys, which is read again whenever it has changed.
import FoundationEssentials
import Glibc
import Logging
import Synchronization

/// The current keys of a file. If the file cannot be read, the previous keys stay, and the error is logged once.
package final class KeyFile: Sendable {
    /// The properties that identify a version of the file.
    private struct Mark: Equatable {
        let inode: UInt64
        let byteCount: Int
        let modified: [Int]

        /// Returns nil if there is no file.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            inode = UInt64(status.st_ino)
            byteCount = Int(status.st_size)
            modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        }
    }

    private struct State {
        var keys: KeySet
        var mark: Mark?
    }

    private static let byteCountMax = 256 * 1024
    private static let lookInterval = Duration.seconds(1)

    private let path: String
    private let logger: Logger
    private let state: Mutex<State>

    /// Throws `KeySet.Unreadable` for a file without keys.
    package init(path: String, logger: Logger) throws {
        self.path = path
        self.logger = logger
        let mark = Mark(path)
        let keys = try Self.read(path, mark)
        state = Mutex(State(keys: keys, mark: mark))
        remark(on: keys)
    }

    /// Returns the keys for a token that has just arrived, including changes written before. Costs a look at the file's
    /// status (1 µs) while the file stays the same.
    package func keys() -> KeySet {
        let mark = Mark(path)
        let (keys, hasChanged) = state.withLock { ($0.keys, $0.mark != mark) }
        return hasChanged ? readAgain(mark, orKeep: keys) : keys
    }

    /// Checks the file regularly, so that a broken file is logged before anyone signs in.
    package func run() async throws {
        while true {
            try await Task.sleep(for: Self.lookInterval)
            _ = keys()
        }
    }

    private func readAgain(_ mark: Mark?, orKeep old: KeySet) -> KeySet {
        do {
            let keys = try Self.read(path, mark)
            // If two calls read at once, the older may finish last. It stores its own mark, so the next call reads
            // again.
            state.withLock { $0 = State(keys: keys, mark: mark) }
            logger.info("the keys for delegated tokens were reloaded", metadata: ["count": "\(keys.keys.count)"])
            remark(on: keys)
            return keys
        } catch {
            let isNews = state.withLock { state in
                defer { state.mark = mark }
                return state.mark != mark
            }
            if isNews {
                logger.error(
                    "cannot read the keys for delegated tokens; keeping the previous keys",
                    metadata: ["reason": "\(error)"])
            }
            return old
        }
    }

    private static func read(_ path: String, _ mark: Mark?) throws -> KeySet {
        guard let mark else { throw KeySet.Unreadable(description: "there is no such file") }
        guard mark.byteCount <= byteCountMax, let data = FileManager.default.contents(atPath: path) else {
            throw KeySet.Unreadable(description: "it cannot be read, or has more than \(byteCountMax) bytes")
        }
        return try KeySet(Array(data))
    }

    private func remark(on keys: KeySet) {
        for remark in keys.remarks {
            logger.warning("a key for delegated tokens is skipped", metadata: ["reason": "\(remark)"])
        }
    }
}
