// Wake-ups of a task.
import Synchronization

/// A wake-up of one task. Those that come while the task is busy are kept as one. Waiting does not end when the task is
/// cancelled: a task that ends in order still waits for what is under way.
package final class WakeUps: Sendable {
    private struct State {
        var isSet = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    /// May be called from any thread.
    package func wake() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            if state.waiter == nil { state.isSet = true }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Returns once there was a wake-up since the last call.
    package func wait() async {
        await withCheckedContinuation { continuation in
            let isSet = state.withLock { state in
                defer { state.isSet = false }
                if !state.isSet { state.waiter = continuation }
                return state.isSet
            }
            if isSet { continuation.resume() }
        }
    }
}
