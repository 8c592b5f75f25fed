// What all connections of a server share, from any thread: settings, counters, and whether it is going.

import Logging
import NIOCore
import Synchronization

/// What all connections of a server share, from any thread.
final class ServerState: Sendable {
    let settings: TransportSettings
    let handler: any RequestHandler
    let logger: Logger
    let counters = Counters()
    let addresses = AddressCounts()
    /// All event loops of the server, once there are any.
    let loops = Mutex<[NIOLoopBound<LoopState>]>([])
    /// From now on each answer closes its connection.
    let isClosing = Atomic(false)

    /// Nothing new is let in any more.
    let isDraining = Atomic(false)
    let connectionsGone = Gate()
    let tasksEnded = Gate()

    init(settings: TransportSettings, handler: any RequestHandler, logger: Logger) {
        self.settings = settings
        self.handler = handler
        self.logger = logger
    }

    /// The last connection of a draining server lets the drain end.
    func openGateIfDrained() {
        guard isDraining.load(ordering: .sequentiallyConsistent), counters.isEmpty else { return }
        connectionsGone.open()
    }

    /// A request's task begins; `taskEnded` must follow.
    func taskBegins() { counters.tasksRunning.add(1, ordering: .relaxed) }

    func taskEnded() {
        counters.tasksRunning.subtract(1, ordering: .sequentiallyConsistent)
        openGateIfTasksEnded()
    }

    /// With no connection left no task begins any more.
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

/// Opens once; one waiter.
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
