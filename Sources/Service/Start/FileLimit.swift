// The process's limit of open files.
import Glibc
import Logging

/// Each waiting client is an open file. Systems start a process with a limit far below the one it may set.
enum FileLimit {
    /// Raises the limit as far as the system allows.
    static func raise(logger: Logger) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let now = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 {
            logger.warning("the limit of open files can't be raised", metadata: ["limit": "\(now)"])
        }
    }
}
