// The tasks of requests that continue when their client goes away.

import Synchronization

/// Tasks that store what a client sent before it went away. Only the end of a drain cancels them. From any thread.
final class LastingTasks: Sendable {
    private struct State {
        /// It is nil until the task's creator has passed it on.
        var tasks: [Int: Task<Void, Never>?] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.tasks.isEmpty } }

    /// Counts a task that begins. `end` must follow.
    func begin() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.tasks[state.lastNumber] = .some(nil)
            return state.lastNumber
        }
    }

    /// Stores the task that `begin` counted, unless it has ended already.
    func store(_ task: Task<Void, Never>, at number: Int) {
        state.withLock { state in
            if state.tasks[number] != nil { state.tasks[number] = task }
        }
    }

    func end(_ number: Int) { state.withLock { _ = $0.tasks.removeValue(forKey: number) } }

    func cancelAll() {
        for task in state.withLock({ Array($0.tasks.values) }) { task?.cancel() }
    }
}
