// How many searches run at once. One can keep a connection to the database busy for a tenth of a second, and there are
// few of those, which the sends need, too.
import Domain
import Synchronization

/// A few at a time, the others in a bounded line, first come first served.
final class SearchSlots: Sendable {
    private struct State {
        var freeCount: Int
        /// True for who may go, false for who finds the line full.
        var line: [CheckedContinuation<Bool, Never>] = []
    }

    private static let waitingCountMax = 64
    private let state: Mutex<State>

    init(count: Int = 2) { state = Mutex(State(freeCount: count)) }

    /// Throws 503 when the line is full.
    func run<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        let mayGo = await withCheckedContinuation { continuation in
            let mayGoNow: Bool? = state.withLock { state in
                if state.freeCount > 0 {
                    state.freeCount -= 1
                    return true
                }
                guard state.line.count < Self.waitingCountMax else { return false }
                state.line.append(continuation)
                return nil
            }
            if let mayGoNow { continuation.resume(returning: mayGoNow) }
        }
        guard mayGo else { throw Problem(.overloaded, "Many people search right now. Try again.", retryAfterS: 2) }
        defer { leave() }
        return try await body()
    }

    private func leave() {
        let next: CheckedContinuation<Bool, Never>? = state.withLock { state in
            if !state.line.isEmpty { return state.line.removeFirst() }
            state.freeCount += 1
            return nil
        }
        next?.resume(returning: true)
    }
}
