// Waiting for this node's tail to read more of the log.
import Synchronization

/// Lets tasks wait until the node has read further. A waiting task costs no query and no timer tick. Without waiting
/// tasks a signal costs one atomic load.
package final class HeadSignal: Sendable {
    private struct State {
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var lastID: UInt64 = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let waitingCount = Atomic(0)

    package init() {}

    /// Whether `close` was called: the node stops, and nothing waits any more.
    package var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Suspends until a signal, the end of `duration`, `close`, or the task's cancellation. Returns at once if `isOver`
    /// is true: it is called when no later signal can be missed.
    package func wait(for duration: Duration, unless isOver: @escaping @Sendable () -> Bool) async {
        guard duration > .zero else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.waitForSignal(unless: isOver) }
            group.addTask { try? await Task.sleep(for: duration) }
            await group.next()
            group.cancelAll()
        }
    }

    private func waitForSignal(unless isOver: @Sendable () -> Bool) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    guard !state.isClosed else { return false }
                    state.waiting[id] = continuation
                    waitingCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
                    return true
                }
                guard isWaiting else { return continuation.resume() }
                // The handler may have run before the continuation was stored.
                if Task.isCancelled || isOver() { end(id) }
            }
        } onCancel: {
            end(id)
        }
    }

    private func end(_ id: UInt64) {
        let continuation = state.withLock { state in
            let continuation = state.waiting.removeValue(forKey: id)
            if continuation != nil { waitingCount.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
            return continuation
        }
        continuation?.resume()
    }

    /// Resumes all waiting tasks. Call it after the node's head has moved, without any lock held.
    func signal() {
        guard waitingCount.load(ordering: .sequentiallyConsistent) > 0 else { return }
        resume { _ in }
    }

    /// Resumes all waiting tasks, and lets none wait again.
    package func close() { resume { $0.isClosed = true } }

    private func resume(_ change: (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            defer { state.waiting = [:] }
            waitingCount.wrappingSubtract(state.waiting.count, ordering: .sequentiallyConsistent)
            return state.waiting.values.map { $0 }
        }
        for continuation in waiting { continuation.resume() }
    }
}
