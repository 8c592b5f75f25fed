// Passwords hashed and checked outside the cooperative pool, a few at once, with a bounded and fair line before them.
// PasswordHash has the format and the computation; the API limits attempts.

import Basics
import Cryptography
import Dispatch
import FoundationEssentials

/// Hashes passwords with scrypt: at most `workerCount` at once and `waitingCountMax` in line. Each occupies a core and
/// 32 MiB for 75 ms at the standard cost.
///
/// Each call names its flow: the client's address, or the kind of work where no client waits for it. Flows are served
/// in turn, so a client with many passwords in line delays another client by one computation. A caller that is
/// cancelled in line loses its place; a computation that has begun runs to its end.
package final class PasswordHasher: Sendable {
    /// The cost of new hashes.
    package let cost: ScryptCost

    private let slots: Slots<String>
    private let threads = DispatchQueue(label: "parley.password-hasher", attributes: .concurrent)
    let dummy: PasswordHash

    /// The number of cores less one, which stays free for everything else; at least 1. At most 16, which use 512 MiB at
    /// the standard cost.
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
        slots = Slots(SlotLimits(slotCount: workerCount, waitingCountMax: waitingCountMax))
        dummy = PasswordHash(
            cost: cost, salt: RandomBytes.make(count: PasswordHash.saltByteCount),
            key: RandomBytes.make(count: PasswordHash.keyByteCount))
    }

    /// Returns the text to store: `$scrypt$ln=15,r=8,p=1$salt$hash`, at most 128 characters.
    ///
    /// - Throws: `CredentialsError.hasherBusy`, `CryptographyError`, `CancellationError`.
    package func hash(_ password: String, flow: String) async throws -> String {
        let cost = cost
        return try await run(flow: flow) { try PasswordHash.make(NormalisedPassword(password).text, cost: cost).text }
    }

    /// Returns whether `stored` is the hash of this password, at the cost that the hash names. Compares in constant
    /// time. A wrong password takes as long as `dummyVerify`, also for a hash of a lower cost than the current one.
    ///
    /// - Throws: as `hash`, and `CredentialsError.malformedHash`.
    package func verify(_ password: String, against stored: String, flow: String) async throws -> Bool {
        let hash = try PasswordHash(parsing: stored)
        let rest = cost.less(hash.cost).map { PasswordHash(cost: $0, salt: dummy.salt, key: dummy.key) }
        return try await run(flow: flow) {
            let password = NormalisedPassword(password).text
            if try hash.matches(password) { return true }
            _ = try rest?.matches(password)
            return false
        }
    }

    /// Returns which of `stored` is the hash of this password, or nil. Always computes `count` hashes, so that the time
    /// does not show how many are stored; `stored` has at most `count`.
    ///
    /// - Throws: as `verify`.
    package func verify(
        _ password: String, againstAny stored: [String], count: Int, flow: String
    ) async throws -> String? {
        let hashes = try stored.map { try PasswordHash(parsing: $0) }
        let dummies = Array(repeating: dummy, count: max(0, count - hashes.count))
        let match = try await run(flow: flow) {
            let password = NormalisedPassword(password).text
            // Not `firstIndex`, which would stop computing at a match.
            let matches = try (hashes + dummies).map { try $0.matches(password) }
            return matches.prefix(hashes.count).firstIndex(of: true)
        }
        return match.map { stored[$0] }
    }

    /// Takes as long as `verify` for a hash of the current cost: for a user who does not exist or has no password, so
    /// that the time does not show it. Throws as `hash` does.
    package func dummyVerify(_ password: String, flow: String) async throws {
        let dummy = dummy
        _ = try await run(flow: flow) { try dummy.matches(NormalisedPassword(password).text) }
    }

    /// Whether to hash the password again after a successful sign-in, because the cost has changed. False for a text
    /// that cannot be read.
    package func needsRehash(_ stored: String) -> Bool {
        guard let hash = try? PasswordHash(parsing: stored) else { return false }
        return hash.cost != cost
    }

    /// How many passwords are computed and how many wait, for metrics.
    package var load: (busy: Int, waiting: Int) { slots.load }

    /// Runs blocking work in a slot.
    func run<Value: Sendable>(flow: String, _ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        do {
            try await slots.enter(flow)
        } catch is SlotRefusal {
            throw CredentialsError.hasherBusy
        }
        return try await withCheckedThrowingContinuation { continuation in
            threads.async {
                let result = Result(catching: work)
                // The slot is freed first, because the caller may ask for the next at once.
                self.slots.leave(flow)
                continuation.resume(with: result)
            }
        }
    }
}
