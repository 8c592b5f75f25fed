// Raw mode and back, also from a signal handler: whatever ends the process, the shell gets a usable terminal.
import Glibc
import Synchronization

/// The mode of the process's terminal. A signal handler may interrupt the program anywhere, so everything that it needs
/// lies in memory from `enter` on.
enum TerminalMode {
    // SAFETY: written by `enter` before the handlers are set and while no other thread changes the mode; read by signal
    // handlers, which may not lock.
    private nonisolated(unsafe) static var original = termios()
    private nonisolated(unsafe) static var restoring = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 0)
    private static let isRaw = Atomic(false)
    private static let hasOriginal = Atomic(false)

    /// The alternate screen, bracketed paste, application cursor keys off, a bar across none of it.
    private static let begin = "\u{1b}[?1049h\u{1b}[?2004h\u{1b}[?1l\u{1b}[2J"
    private static let end = "\u{1b}[?2026l\u{1b}[0m\u{1b}]8;;\u{1b}\\\u{1b}[?2004l\u{1b}[?25h\u{1b}[?1049l"

    /// Returns false, with errno, if the terminal refuses.
    static func enter() -> Bool {
        if !hasOriginal.load(ordering: .acquiring) {
            guard tcgetattr(STDIN_FILENO, &original) == 0 else { return false }
            restoring = .allocate(capacity: end.utf8.count)
            _ = restoring.initialize(from: end.utf8)
            hasOriginal.store(true, ordering: .releasing)
        }
        var raw = original
        cfmakeraw(&raw)
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) == 0 else { return false }
        isRaw.store(true, ordering: .releasing)
        let bytes = Array(begin.utf8)
        return write(STDOUT_FILENO, bytes, bytes.count) == bytes.count
    }

    /// Restores the terminal if it is raw. Safe in a signal handler: no lock, no allocation.
    static func leave() {
        guard isRaw.exchange(false, ordering: .acquiringAndReleasing) else { return }
        _ = write(STDOUT_FILENO, restoring.baseAddress, restoring.count)
        tcsetattr(STDIN_FILENO, TCSANOW, &original)
    }
}

/// Signals as bytes of a pipe that the reading thread watches. Signals that end the process restore the terminal first.
enum SignalPipe {
    // SAFETY: set once before the handlers are installed.
    private nonisolated(unsafe) static var writeEnd: Int32 = -1

    /// Sets the handlers and returns the end of the pipe to read from.
    static func install() throws -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw Terminal.Failure(description: "a pipe cannot be made: \(String(cString: strerror(errno)))")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        writeEnd = ends[1]
        for number in [SIGWINCH, SIGCONT] { set(number, note) }
        watchStop()
        // SIGILL and SIGTRAP end a Swift program whose precondition does not hold.
        for number in [SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE] {
            set(number, restoreAndEnd)
        }
        // A lost connection must not end the program.
        signal(SIGPIPE, SIG_IGN)
        return ends[0]
    }

    static func watchStop() { set(SIGTSTP, note) }

    static func event(_ byte: UInt8) -> TerminalEvent {
        switch Int32(byte) {
        case SIGCONT: .continued
        case SIGTSTP: .stopRequested
        default: .resized
        }
    }

    private static func set(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        action.sa_flags = SA_RESTART
        sigaction(number, &action, nil)
    }

    private static let note: @convention(c) (Int32) -> Void = { number in
        let before = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(SignalPipe.writeEnd, &byte, 1)
        errno = before
    }

    private static let restoreAndEnd: @convention(c) (Int32) -> Void = { number in
        TerminalMode.leave()
        signal(number, SIG_DFL)
        raise(number)
    }
}
