// Tells lists which parts of the store a transaction changed. A note says where to look, not what is there: notes that
// come while a list is busy become one.

/// The parts of the store that a transaction changed.
struct Changes: Sendable {
    /// Rows of the inbox.
    var threads: Set<String> = []
    /// Threads whose messages, ranges or unsent messages changed.
    var timelines: Set<String> = []
    /// The server has confirmed read marks.
    var marks = false
    /// Threads whose list of members changed.
    var members: Set<String> = []
    var outbox = false
    var account = false
    /// Threads in which somebody began or stopped typing.
    var typing: Set<String> = []
    /// People whose presence changed.
    var presence: Set<String> = []
    /// The connection to the server.
    var status = false
    /// A search whose results have come.
    var search: ObjectIdentifier?
    /// Entries that failed are sent again at once.
    var retry = false
    /// Everything may have changed: another account, or a reload.
    var all = false
}

final class ChangeHub: Sendable {
    private struct State {
        var listeners: [Int: Signal] = [:]
        var interests: [Int: @Sendable (Changes) -> Bool] = [:]
        var next = 0
        var isClosed = false
    }

    private let state = Locked(State())

    /// Returns a signal that is set whenever a change that `interest` accepts has been stored.
    func listen(to interest: @escaping @Sendable (Changes) -> Bool) -> Registration {
        let signal = Signal()
        let number = state.withLock { state in
            state.next += 1
            state.listeners[state.next] = signal
            state.interests[state.next] = interest
            if state.isClosed { signal.end() }
            return state.next
        }
        return Registration(signal: signal) { [weak self] in self?.remove(number) }
    }

    func publish(_ changes: Changes) {
        let concerned = state.withLock { state in
            state.listeners.filter { state.interests[$0.key]?(changes) ?? false }.map(\.value)
        }
        for signal in concerned { signal.set() }
    }

    var listenerCount: Int { state.withLock { $0.listeners.count } }

    /// Publishes at a later time, for what ends by itself.
    func publish(_ changes: Changes, at time: ContinuousClock.Instant) {
        Task { [weak self] in
            try? await Task.sleep(until: time, clock: .continuous)
            self?.publish(changes)
        }
    }

    /// Ends all lists.
    func close() {
        let all = state.withLock { state in
            state.isClosed = true
            return Array(state.listeners.values)
        }
        for signal in all { signal.end() }
    }

    private func remove(_ number: Int) {
        state.withLock { state in
            state.listeners[number] = nil
            state.interests[number] = nil
        }
    }

    /// Listens until it is released.
    final class Registration: Sendable {
        let signal: Signal
        private let remove: @Sendable () -> Void

        init(signal: Signal, remove: @escaping @Sendable () -> Void) {
            self.signal = signal
            self.remove = remove
        }

        deinit { remove() }
    }
}

/// A flag that one task waits for. It stays set until the task has seen it.
final class Signal: Sendable {
    private enum State {
        case clear, set, ended
        case waiting(CheckedContinuation<Bool, Never>)
    }

    private let state = Locked(State.clear)

    func set() { leave(with: true) }

    func end() { leave(with: false) }

    /// Waits until the signal is set, and clears it. Returns false when it has ended, or when the task is cancelled.
    func wait() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    switch state {
                    case .set:
                        state = .clear
                        return true
                    case .ended: return false
                    case .clear:
                        if Task.isCancelled { return false }
                        state = .waiting(continuation)
                        return nil
                    case .waiting: preconditionFailure("One task at a time may wait for a signal.")
                    }
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiting: CheckedContinuation<Bool, Never>? = state.withLock { state in
                guard case .waiting(let continuation) = state else { return nil }
                state = .clear
                return continuation
            }
            waiting?.resume(returning: false)
        }
    }

    private func leave(with value: Bool) {
        let waiting: CheckedContinuation<Bool, Never>? = state.withLock { state in
            switch state {
            case .waiting(let continuation):
                state = value ? .clear : .ended
                return continuation
            case .ended: return nil
            case .clear, .set:
                state = value ? .set : .ended
                return nil
            }
        }
        waiting?.resume(returning: value)
    }
}

extension ChangeHub {
    /// Waits until the time is over, something asks for a retry, or the task is cancelled.
    func pause(_ time: Duration) async {
        let listener = listen { $0.retry }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = await listener.signal.wait() }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }
}
