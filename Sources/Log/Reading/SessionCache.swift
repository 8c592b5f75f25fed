// Whose token is whose, kept on the node and corrected by the log, so that a request in steady state asks nobody.
import Domain
import Store
import Synchronization

/// The sessions this node has seen. An answer from here is exact as far as the node's tail has come; while the tail is
/// behind, the database is asked.
package final class SessionCache: Sendable {
    private struct Entry {
        var identity: Identity
        /// Microseconds since 1970, as what follows.
        var usedAt: Int64
        /// The use that the database was told of last. What it should know of a session that was just found isn't known
        /// here, so it is told once.
        var notedAt: Int64 = 0
        /// Among those that it is to be told of.
        var isListed = false
    }

    private struct State {
        var entries: [[UInt8]: Entry] = [:]
        /// Of the sessions whose use the database is to be told of. Some may have gone meanwhile.
        var listed: [[UInt8]] = []
        var digests: [SessionID: [UInt8]] = [:]
        /// Sessions signed out lately and where: what a slow read of the database may not have seen yet.
        var revoked: [SessionID: Position] = [:]
        /// Sign-outs up to here may be missing in `revoked`.
        var revokedSince = Position.start
        /// How often everything was dropped: what was read before is not put in after.
        var restartCount = 0

        /// A session is in use; nil if it isn't known here, or wasn't used since then.
        mutating func use(_ digest: [UInt8], now: Int64, ifSince since: Int64 = .min) -> Identity? {
            guard let index = entries.index(forKey: digest), entries.values[index].usedAt > since else { return nil }
            entries.values[index].usedAt = now
            if now - entries.values[index].notedAt > SessionCache.noteIntervalMicros, !entries.values[index].isListed {
                entries.values[index].isListed = true
                listed.append(digest)
            }
            return entries.values[index].identity
        }
    }

    private let store: Store
    private let idleDays: Int
    private let countMax: Int
    private let state = Mutex(State())

    /// - Parameter idleDays: a session that isn't used for so long is over.
    package init(_ store: Store, idleDays: Int = 90, countMax: Int = 100_000) {
        self.store = store
        self.idleDays = idleDays
        self.countMax = countMax
    }

    /// The identity behind a token's digest, if this node knows it. Never suspends. One that hasn't been used here for long
    /// isn't known: it may be over.
    package func cached(_ digest: [UInt8], now: Int64) -> Identity? {
        let usedSince = now - Int64(idleDays) * 86_400 * 1_000_000
        return state.withLock { $0.use(digest, now: now, ifSince: usedSince) }
    }

    /// The identity behind a token's digest as the database has it now; nil when there is no such session.
    package func find(_ digest: [UInt8], now: Int64) async throws -> Identity? {
        let restartCount = state.withLock { $0.restartCount }
        guard let found = try await store.findSession(digest: digest, idleDays: idleDays) else {
            return nil
        }
        return state.withLock { state in
            if state.revoked[found.identity.session] != nil { return nil }
            if found.position >= state.revokedSince, restartCount == state.restartCount {
                if state.entries.count >= countMax, let victim = state.entries.keys.first {
                    Self.remove(victim, &state)
                }
                state.entries[digest] = Entry(identity: found.identity, usedAt: now)
                state.digests[found.identity.session] = digest
                _ = state.use(digest, now: now)
            }
            return found.identity
        }
    }

    /// Notes that a session is in use; false if this node knows it to be signed out.
    package func touch(_ session: SessionID, now: Int64) -> Bool {
        state.withLock {
            if let digest = $0.digests[session] { _ = $0.use(digest, now: now) }
            return $0.revoked[session] == nil
        }
    }

    /// Whether this node knows the session to be signed out.
    package func isRevoked(_ session: SessionID) -> Bool { state.withLock { $0.revoked[session] != nil } }

    /// A session was signed out: at `position` of the log, or, nil, by this node just now.
    package func revoke(_ session: SessionID, at position: Position?) {
        state.withLock { state in
            if let digest = state.digests[session] { Self.remove(digest, &state) }
            state.revoked[session] = position ?? state.revoked[session] ?? state.revokedSince
            guard state.revoked.count > 10_000 else { return }
            // Ids are never used again, so forgetting is safe once no read can be older: raise the floor and start over.
            state.revokedSince = state.revoked.values.max() ?? state.revokedSince
            state.revoked = [:]
        }
    }

    /// The database's history isn't all that this node has read: nothing kept can be trusted.
    func restart(at position: Position) {
        state.withLock {
            $0 = State(revokedSince: position, restartCount: $0.restartCount + 1)
        }
    }

    private static func remove(_ digest: [UInt8], _ state: inout State) {
        if let entry = state.entries.removeValue(forKey: digest) { state.digests[entry.identity.session] = nil }
    }

    /// How exactly the database knows when a session was last used: a device that polls all day writes now and then.
    private static let noteIntervalMicros: Int64 = 300 * 1_000_000

    /// Tells the database when sessions were last used, for those it knows too little of.
    package func flush() async throws {
        let used = state.withLock { state in
            var used: [SessionID: Int64] = [:]
            for digest in state.listed {
                guard let index = state.entries.index(forKey: digest) else { continue }
                state.entries.values[index].isListed = false
                state.entries.values[index].notedAt = state.entries.values[index].usedAt
                used[state.entries.values[index].identity.session] = state.entries.values[index].usedAt
            }
            state.listed.removeAll(keepingCapacity: true)
            return used
        }
        if !used.isEmpty { try await store.touchSessions(used) }
    }
}
