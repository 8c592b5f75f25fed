// Passwords hashed and checked off the cooperative pool, a few at once, with a bounded and fair line before them. The
// format and the computation are PasswordHash's; limits on attempts are the API's.

import Dispatch
import Foundation
import Synchronization

/// Hashes passwords with scrypt: at most `workerCount` at once (each occupies a core and 32 MiB for 75 ms at the standard
/// cost), at most `waitingCountMax` in line.
///
/// Each call names its lane: the client's address, or the kind of work where no client waits for it. The lanes are served in
/// turn, so a client with many passwords in line delays another client by one computation. A caller that is cancelled in
/// line leaves the line; a computation that has begun runs to its end.
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

    /// As many as the machine has cores, less one that stays free for everything else; at least one, and at most 16, which
    /// hold 512 MiB at the standard cost.
    package static var workerCountOfMachine: Int {
        max(1, min(16, ProcessInfo.processInfo.activeProcessorCount - 1))
    }

    /// - Parameters:
    ///   - workerCount: computations at once.
    ///   - waitingCountMax: computations in line: 256 before one worker take 19 s at the standard cost.
    package init(
        cost: ScryptCost = .standard, workerCount: Int = PasswordHasher.workerCountOfMachine, waitingCountMax: Int = 256
    ) {
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
    package func hash(_ password: String, lane: String) async throws -> String {
        let cost = cost
        return try await run(lane: lane) { try PasswordHash.make(NormalisedPassword(password).text, cost: cost).text }
    }

    /// Whether `stored` is the hash of this password, at whatever cost it was made. Compared in constant time.
    ///
    /// - Throws: as `hash`, and `CredentialsError.malformedHash`.
    package func verify(_ password: String, against stored: String, lane: String) async throws -> Bool {
        let hash = try PasswordHash(parsing: stored)
        return try await run(lane: lane) { try hash.matches(NormalisedPassword(password).text) }
    }

    /// Which of `stored` is the hash of this password; nil for none. Always computes `count` hashes, so that the time of the
    /// answer does not tell how many there are: `stored` has at most that many.
    ///
    /// - Throws: as `verify`.
    package func verify(
        _ password: String, againstAny stored: [String], count: Int, lane: String
    ) async throws -> String? {
        let hashes = try stored.map { try PasswordHash(parsing: $0) }
        let dummies = Array(repeating: dummy, count: max(0, count - hashes.count))
        let match = try await run(lane: lane) {
            let password = NormalisedPassword(password).text
            // Not `firstIndex`: no computation is left out after a match.
            let matches = try (hashes + dummies).map { try $0.matches(password) }
            return matches.prefix(hashes.count).firstIndex(of: true)
        }
        return match.map { stored[$0] }
    }

    /// Takes as long as `verify` for a hash of today's cost: for a user who does not exist, or has no password, so that the
    /// time of the answer does not tell. Errors as in `hash`.
    package func dummyVerify(_ password: String, lane: String) async throws {
        let dummy = dummy
        _ = try await run(lane: lane) { try dummy.matches(NormalisedPassword(password).text) }
    }

    /// Whether to hash the password again after a successful sign-in, because the cost has changed. False for a line that
    /// can't be read.
    package func needsRehash(_ stored: String) -> Bool {
        guard let hash = try? PasswordHash(parsing: stored) else { return false }
        return hash.cost != cost
    }

    /// How many compute and how many wait, for metrics.
    package var load: (busy: Int, waiting: Int) {
        state.withLock { ($0.slots.busyCount, $0.slots.waitingCount) }
    }

    /// Runs blocking work in a slot.
    func run<Value: Sendable>(lane: String, _ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await waitForSlot(lane)
        return try await withCheckedThrowingContinuation { continuation in
            threads.async {
                let result = Result(catching: work)
                // The slot first: the caller may ask for the next at once.
                self.state.withLock { $0.slots.leave() }?.resume()
                continuation.resume(with: result)
            }
        }
    }

    private func waitForSlot(_ lane: String) async throws {
        try Task.checkCancellation()
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: Waiter) in
                switch state.withLock({ $0.slots.enter(id: id, lane: lane, waiter) }) {
                case .go: waiter.resume()
                case .refused: waiter.resume(throwing: CredentialsError.hasherBusy)
                case .wait: break
                case .waitInsteadOf(let displaced): displaced.resume(throwing: CredentialsError.hasherBusy)
                }
                // The handler may have run before the waiter was in line. After `.go` and `.refused` it is not there.
                if Task.isCancelled { giveUp(id, lane) }
            }
        } onCancel: {
            giveUp(id, lane)
        }
    }

    private func giveUp(_ id: UInt64, _ lane: String) {
        state.withLock { $0.slots.giveUp(id: id, lane: lane) }?.resume(throwing: CancellationError())
    }
}
