// A child process with its own thread, which starts it, waits for it and reaps it.

import Dispatch
import Glibc
import Synchronization

/// A running or ended child. Its thread lives as long as the process: the kernel's parent-death signal is tied to the
/// thread that started the child, not to the process.
package final class ChildProcess: Sendable {
    /// How a process ended.
    package enum Exit: Sendable, Equatable, CustomStringConvertible {
        case status(Int32)
        case signal(Int32)
        /// Another part of this process has reaped it.
        case unknown

        /// - Parameter waitStatus: what `waitpid` reports.
        init(waitStatus: Int32) {
            self = waitStatus & 0x7f == 0 ? .status(waitStatus >> 8 & 0xff) : .signal(waitStatus & 0x7f)
        }

        /// "exited with status 1", "was ended by signal 9"
        package var description: String {
            switch self {
            case .status(let status): "exited with status \(status)"
            case .signal(let signal): "was ended by signal \(signal)"
            case .unknown: "ended"
            }
        }
    }

    package let pid: pid_t
    private let state = Mutex(State())

    private struct State {
        var exit: Exit?
        var processorTime = Duration.zero
        var waiters: [UInt64: CheckedContinuation<Exit?, Never>] = [:]
        var waiterCount: UInt64 = 0
    }

    private init(pid: pid_t) {
        self.pid = pid
    }

    /// Starts the program. The caller closes the descriptors. `onExit` runs once on the process's thread after the
    /// process has ended.
    /// - Parameter error: standard error; nil for the same as `output`.
    package static func start(
        _ program: Program, input: Int32, output: Int32, error: Int32? = nil,
        onExit: @escaping @Sendable () -> Void = {}
    ) async throws -> ChildProcess {
        try await withCheckedThrowingContinuation { continuation in
            Blocking.thread {
                do {
                    let child = ChildProcess(pid: try program.spawn(input: input, output: output, error: error))
                    continuation.resume(returning: child)
                    child.reap()
                    onExit()
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// The processor time that the process has used. Zero while it runs.
    package var processorTime: Duration { state.withLock { $0.processorTime } }

    package var isRunning: Bool { state.withLock { $0.exit == nil } }

    /// Sends a signal unless the process has ended. Never signals another process with the same number.
    package func send(_ signal: Int32) {
        state.withLock { if $0.exit == nil { _ = kill(pid, signal) } }
    }

    /// Waits until it has ended. Throws only `CancellationError`.
    package func waitForExit() async throws -> Exit {
        let id = nextWaiter()
        let exit = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                add(continuation, id: id)
                // The handler may have run before the waiter was added.
                if Task.isCancelled { giveUp(id) }
            }
        } onCancel: {
            giveUp(id)
        }
        guard let exit else { throw CancellationError() }
        return exit
    }

    /// Waits until it has ended, at most `limit`; returns nil if it still runs. Ignores cancellation: for cleanup.
    package func waitForExit(atMost limit: Duration) async -> Exit? {
        let id = nextWaiter()
        return await withCheckedContinuation { continuation in
            add(continuation, id: id)
            DispatchQueue.global().asyncAfter(deadline: .now() + limit.dispatchInterval) { self.giveUp(id) }
        }
    }

    /// Waits until it has ended. Ignores cancellation: for a caller who kills it then.
    package func exit() async -> Exit {
        let id = nextWaiter()
        return await withCheckedContinuation { add($0, id: id) } ?? .unknown
    }

    private func nextWaiter() -> UInt64 {
        state.withLock { state in
            state.waiterCount += 1
            return state.waiterCount
        }
    }

    private func add(_ waiter: CheckedContinuation<Exit?, Never>, id: UInt64) {
        let exit = state.withLock { state in
            if state.exit == nil { state.waiters[id] = waiter }
            return state.exit
        }
        if let exit { waiter.resume(returning: exit) }
    }

    private func giveUp(_ id: UInt64) {
        state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: nil)
    }

    private func reap() {
        // Ended, but not reaped: the process id stays reserved until the state says that it has ended.
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        let (exit, waiters) = state.withLock { state in
            var status: Int32 = 0
            var usage = rusage()
            let exit = wait4(pid, &status, WNOHANG, &usage) == pid ? Exit(waitStatus: status) : .unknown
            state.exit = exit
            state.processorTime = Duration(usage.ru_utime) + Duration(usage.ru_stime)
            defer { state.waiters = [:] }
            return (exit, Array(state.waiters.values))
        }
        for waiter in waiters { waiter.resume(returning: exit) }
    }
}

extension Duration {
    fileprivate init(_ time: timeval) {
        self = .seconds(Int64(time.tv_sec)) + .microseconds(Int64(time.tv_usec))
    }

    package var dispatchInterval: DispatchTimeInterval {
        .milliseconds(Int(components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000))
    }
}
