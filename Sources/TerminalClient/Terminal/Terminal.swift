// The terminal as a device: raw mode, its size, its bytes, and signals. The only file with system calls of terminals.
import Foundation
import Glibc
import Linux
import Synchronization

/// What happens at the terminal.
enum TerminalEvent: Hashable, Sendable {
    case input(TerminalInput)
    case resized
    /// Another program asks this one to stop (SIGTSTP); Ctrl-Z arrives as a key.
    case stopRequested
    /// The program runs again after it was stopped.
    case continued
    /// The terminal has gone.
    case closed
}

/// Standard input and output of the process, in raw mode from `open` to `close`. One at a time.
final class Terminal: Sendable {
    let events: AsyncStream<TerminalEvent>
    private let stop: Waker

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private init(events: AsyncStream<TerminalEvent>, stop: Waker) {
        self.events = events
        self.stop = stop
    }

    /// Takes over the terminal: raw mode, the alternate screen, bracketed paste. Whatever ends the process from now on,
    /// the terminal is restored.
    static func open() throws -> Terminal {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else {
            throw Failure(
                description: "parley chat needs a terminal: standard input and output must not be redirected.")
        }
        let signals = try SignalPipe.install()
        guard TerminalMode.enter() else {
            throw Failure(description: "the terminal cannot be set to raw mode: \(SystemFailure(code: errno))")
        }
        let stop = try Waker()
        let (events, continuation) = AsyncStream.makeStream(of: TerminalEvent.self)
        try startThread("parley-keys") {
            Self.read(signals: signals, stop: stop, to: continuation)
        }
        return Terminal(events: events, stop: stop)
    }

    /// Restores the terminal and ends the stream of events.
    func close() {
        stop.interrupt()
        TerminalMode.leave()
    }

    /// The size of the terminal now; 80×24 if it says nothing.
    var size: Size {
        var window = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
            return Size(columns: 80, rows: 24)
        }
        return Size(columns: Int(window.ws_col), rows: Int(window.ws_row))
    }

    /// Writes all bytes. A slow terminal delays the caller, not the program's other work.
    func write(_ text: String) async {
        guard !text.isEmpty else { return }
        try? await Blocking.run { Self.writeAll(text) }
    }

    /// Gives the terminal back to the shell until the user continues the program.
    func suspend() {
        TerminalMode.leave()
        // The default action, because the handler only notes the signal.
        signal(SIGTSTP, SIG_DFL)
        kill(getpid(), SIGTSTP)
    }

    /// Takes the terminal again after `suspend`.
    func resume() {
        SignalPipe.watchStop()
        _ = TerminalMode.enter()
    }

    private static func writeAll(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    // MARK: The thread that reads

    /// A lone Escape is one if nothing follows for this long.
    private static let escapeWait = Duration.milliseconds(40)

    private static func read(signals: Int32, stop: Waker, to events: AsyncStream<TerminalEvent>.Continuation) {
        defer { events.finish() }
        var decoder = KeyDecoder()
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while !stop.isInterrupted {
            var watched = [STDIN_FILENO, signals, stop.descriptor].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            let limit = decoder.isWaiting ? milliseconds(until: .now + escapeWait) : -1
            let count = poll(&watched, nfds_t(watched.count), limit)
            if count < 0 { continue }
            if count == 0 { for input in decoder.flush() { events.yield(.input(input)) } }
            if watched[1].revents != 0 {
                let byteCount = Glibc.read(signals, &buffer, buffer.count)
                for byte in buffer[..<max(0, byteCount)] { events.yield(SignalPipe.event(byte)) }
            }
            if watched[0].revents != 0 {
                let byteCount = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
                if byteCount < 0, errno == EINTR || errno == EAGAIN { continue }
                guard byteCount > 0 else {
                    events.yield(.closed)
                    return
                }
                for input in decoder.feed(buffer[..<byteCount]) { events.yield(.input(input)) }
            }
        }
    }
}
