// Passwords hashed and checked off the cooperative pool, a few at once, with a bounded line before them. The format and
// the computation are PasswordHash's; limits on attempts are the API's.

import Dispatch
import Synchronization

/// Hashes passwords with scrypt: at most `workerCount` at once (each takes a core and 32 MiB for 75 ms at the standard
/// cost), at most `waitingCountMax` in line. A caller that is cancelled in line leaves it; a computation that has begun
/// runs to its end.
package final class PasswordHasher: Sendable {
    /// What new hashes cost.
    package let cost: ScryptCost

    private typealias Waiter = CheckedContinuation<Void, any Error>
    private struct State {
        var slots: WorkSlots<Waiter>
        var lastID: UInt64 = 0
    }

    private let state: Mutex<State>
    private let threads = DispatchQueue(label: "parley.password-hasher", attributes: .concurrent)
    let dummy: PasswordHash

    /// - Parameters:
    ///   - workerCount: two are every core of a small machine; a bigger one has cores for more.
    ///   - waitingCountMax: 32 in line before two workers wait 1.2 s at the standard cost.
    package init(cost: ScryptCost = .standard, workerCount: Int = 2, waitingCountMax: Int = 32) {
        precondition(cost.isAcceptable && workerCount > 0 && waitingCountMax >= 0)
        self.cost = cost
        state = Mutex(State(slots: WorkSlots(slotCount: workerCount, waitingCountMax: waitingCountMax)))
        dummy = PasswordHash(
            cost: cost, salt: RandomBytes.make(count: PasswordHash.saltByteCount),
            key: RandomBytes.make(count: PasswordHash.keyByteCount))
    }

    /// The line to store: `$scrypt$ln=15,r=8,p=1$salt$hash`, at most 128 characters.
    ///
    /// - Throws: `CredentialsError` (`hasherBusy`, `cryptoFailed`), `CancellationError`.
    package func hash(_ password: String) async throws -> String {
        let cost = cost
        return try await run { try PasswordHash.make(NormalisedPassword(password).text, cost: cost).text }
    }

    /// Whether `stored` is the hash of this password, at whatever cost it was made. Compared in constant time.
    ///
    /// - Throws: as `hash`, and `CredentialsError.malformedHash`.
    package func verify(_ password: String, against stored: String) async throws -> Bool {
        let hash = try PasswordHash(parsing: stored)
        return try await run { try hash.matches(NormalisedPassword(password).text) }
    }

    /// Takes what `verify` takes for a hash of today's cost: for a user who doesn't exist, or has no password, so that
    /// the time of the answer doesn't tell. Errors as in `hash`.
    package func dummyVerify(_ password: String) async throws {
        let dummy = dummy
        _ = try await run { try dummy.matches(NormalisedPassword(password).text) }
    }

    /// Whether to hash the password anew after a good login, since the cost has changed. False for what can't be read.
    package func needsRehash(_ stored: String) -> Bool {
        guard let hash = try? PasswordHash(parsing: stored) else { return false }
        return hash.cost != cost
    }

    /// How many compute and how many wait, for metrics.
    package var load: (busy: Int, waiting: Int) {
        state.withLock { ($0.slots.busyCount, $0.slots.waitingCount) }
    }

    /// Runs blocking work in a slot.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await takeSlot()
        return try await withCheckedThrowingContinuation { continuation in
            threads.async {
                let result = Result(catching: work)
                // The slot first: who gets the result may ask for the next at once.
                self.state.withLock { $0.slots.leave() }?.resume()
                continuation.resume(with: result)
            }
        }
    }

    private func takeSlot() async throws {
        try Task.checkCancellation()
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: Waiter) in
                switch state.withLock({ $0.slots.enter(id: id, waiter) }) {
                case .go: waiter.resume()
                case .refused: waiter.resume(throwing: CredentialsError.hasherBusy)
                // The handler may have run before there was anyone in line.
                case .wait: if Task.isCancelled { giveUp(id) }
                }
            }
        } onCancel: {
            giveUp(id)
        }
    }

    private func giveUp(_ id: UInt64) {
        state.withLock { $0.slots.giveUp(id: id) }?.resume(throwing: CancellationError())
    }
}
