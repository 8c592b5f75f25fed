// The state that all connections of a server share, from any thread: settings, counters, and whether the server drains.

import Logging
import NIOCore
import Synchronization

/// State of a server that all its connections use. From any thread.
final class ServerState: Sendable {
    let settings: TransportSettings
    let handler: any RequestHandler
    let logger: Logger
    let counters = Counters()
    let addresses = AddressCounts()
    /// All event loops of the server, once they exist.
    let loops = Mutex<[NIOLoopBound<LoopState>]>([])
    /// Set when each answer must close its connection.
    let isClosing = Atomic(false)

    /// Set when no new connection is accepted any more.
    let isDraining = Atomic(false)
    /// Opens when the last connection has closed, and the last of `lastingTasks` has ended.
    let connectionsGone = Gate()
    let tasksEnded = Gate()
    let lastingTasks = LastingTasks()

    init(settings: TransportSettings, handler: any RequestHandler, logger: Logger) {
        self.settings = settings
        self.handler = handler
        self.logger = logger
    }

    /// Continues the drain when nothing is left to wait for.
    func openGateIfDrained() {
        guard isDraining.load(ordering: .sequentiallyConsistent), counters.isEmpty, lastingTasks.isEmpty else { return }
        connectionsGone.open()
    }

    /// Counts a request's task. `taskEnded` must follow.
    func taskBegins() { counters.tasksRunning.add(1, ordering: .relaxed) }

    /// - Parameter lasting: the number of a task of `lastingTasks`.
    func taskEnded(lasting number: Int? = nil) {
        if let number {
            lastingTasks.end(number)
            openGateIfDrained()
        }
        counters.tasksRunning.subtract(1, ordering: .sequentiallyConsistent)
        openGateIfTasksEnded()
    }

    /// Ends the drain when the last task has ended. Without connections no task begins.
    func openGateIfTasksEnded() {
        guard isDraining.load(ordering: .sequentiallyConsistent), counters.isEmpty,
            counters.tasksRunning.load(ordering: .sequentiallyConsistent) == 0
        else { return }
        tasksEnded.open()
    }
}

final class Counters: Sendable {
    let connectionsOpen = Atomic(0)
    let connectionsRefusedOpen = Atomic(0)
    let connectionsTotal = Atomic(0)
    let connectionsRefused = Atomic(0)
    let connectionsDisplaced = Atomic(0)
    let bodyBytes = Atomic(0)
    let bodiesRefused = Atomic(0)
    let requests = Atomic(0)
    let tasksRunning = Atomic(0)
    let failures = Atomic(0)
    let clientsGone = Atomic(0)
    let timeouts = Atomic(0)

    var isEmpty: Bool {
        connectionsOpen.load(ordering: .sequentiallyConsistent)
            + connectionsRefusedOpen.load(ordering: .sequentiallyConsistent) == 0
    }
}

/// A gate that opens once. One task may wait for it.
final class Gate: Sendable {
    private enum State {
        case shut
        case waitedFor(CheckedContinuation<Void, Never>)
        case open
    }

    private let state = Mutex(State.shut)

    func open() {
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
            defer { state = .open }
            if case .waitedFor(let continuation) = state { return continuation }
            return nil
        }
        waiter?.resume()
    }

    func wait() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isOpen = state.withLock { state in
                if case .open = state { return true }
                state = .waitedFor(continuation)
                return false
            }
            if isOpen { continuation.resume() }
        }
    }
}
