// The admin keys by their tokens' digests, cached on the node and kept exact by the log, as sessions are: a call with a
// key needs no query for it.
import Domain
import Store
import Synchronization

/// The admin keys that this node has seen. The cache is exact up to the position of the node's tail; while the tail is
/// behind, the node asks the database.
package final class AdminKeyCache: Sendable {
    private struct State {
        var keys: [[UInt8]: AdminKey] = [:]
        /// When each key was last used, in microseconds since 1970, if the database does not know it yet.
        var used: [AdminKeyID: Int64] = [:]
        var revocations = Revocations<AdminKeyID>()
    }

    private let store: Store
    private let countMax: Int
    private let state = Mutex(State())

    package init(_ store: Store, countMax: Int = 10_000) {
        self.store = store
        self.countMax = countMax
    }

    /// Returns the key of a token's digest, if this node knows it and it has not expired. Never suspends.
    package func cached(_ digest: [UInt8], now: Int64) -> AdminKey? {
        state.withLock { state in
            guard let key = state.keys[digest], !key.isExpired(now: now) else { return nil }
            state.used[key.id] = now
            return key
        }
    }

    /// Returns the key of a token's digest from the database; nil if there is none, or if it has expired.
    package func find(_ digest: [UInt8], now: Int64) async throws -> AdminKey? {
        let restartCount = state.withLock { $0.revocations.restartCount }
        guard let found = try await store.findAdminKey(digest: digest) else { return nil }
        return state.withLock { state in
            if state.revocations.contain(found.key.id) { return nil }
            if state.revocations.areComplete(at: found.position, sinceRestart: restartCount) {
                if state.keys.count >= countMax, let victim = state.keys.keys.first { state.keys[victim] = nil }
                state.keys[digest] = found.key
            }
            state.used[found.key.id] = now
            return found.key
        }
    }

    /// Whether this node knows that the key was revoked.
    package func isRevoked(_ key: AdminKeyID) -> Bool { state.withLock { $0.revocations.contain(key) } }

    /// Records that a key was revoked: at `position` of the log, or, nil, by this node just now.
    package func revoke(_ key: AdminKeyID, at position: Position?) {
        state.withLock { state in
            if let digest = state.keys.first(where: { $0.value.id == key })?.key { state.keys[digest] = nil }
            state.used[key] = nil
            state.revocations.record(key, at: position)
        }
    }

    /// Drops everything: the database has lost a part of what this node has read.
    func restart(at position: Position) {
        state.withLock { $0 = State(revocations: $0.revocations.restarted(at: position)) }
    }

    /// Reports to the database when keys were last used: one write for all keys that were used since the last report.
    package func flush() async throws {
        let used = state.withLock { state in
            defer { state.used = [:] }
            return state.used
        }
        if !used.isEmpty { try await store.touchAdminKeys(used) }
    }
}
