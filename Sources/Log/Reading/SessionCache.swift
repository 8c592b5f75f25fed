// The sessions by their tokens' digests, cached on the node and kept exact by the log: most requests need no query.
import Domain
import Store
import Synchronization

/// The sessions that this node has seen. The cache is exact up to the position of the node's tail; while the tail is
/// behind, the node asks the database.
package final class SessionCache: Sendable {
    private struct Entry {
        var identity: Identity
        /// Microseconds since 1970, as `reportedAt`.
        var usedAt: Int64
        /// The last use that was reported to the database. Unknown for a session that was just found, so that is
        /// reported.
        var reportedAt: Int64 = 0
        /// Whether it is in `listed`.
        var isListed = false
    }

    private struct State {
        var entries: [[UInt8]: Entry] = [:]
        /// Digests of the sessions whose use has to be reported. Some may be gone from `entries`.
        var listed: [[UInt8]] = []
        var digests: [SessionID: [UInt8]] = [:]
        var revocations = Revocations<SessionID>()

        /// Records that a session is in use. Returns nil if it is unknown here, or was not used after `since`.
        mutating func use(_ digest: [UInt8], now: Int64, ifSince since: Int64 = .min) -> Identity? {
            guard let index = entries.index(forKey: digest), entries.values[index].usedAt > since else { return nil }
            entries.values[index].usedAt = now
            if now - entries.values[index].reportedAt > SessionCache.reportIntervalMicros,
                !entries.values[index].isListed
            {
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

    /// - Parameter idleDays: a session that is not used for this many days ends.
    package init(_ store: Store, idleDays: Int = 90, countMax: Int = 100_000) {
        self.store = store
        self.idleDays = idleDays
        self.countMax = countMax
    }

    /// Returns the identity of a token's digest, if this node knows it. Never suspends. A session that was not used
    /// here for `idleDays` counts as unknown: it may have ended.
    package func cached(_ digest: [UInt8], now: Int64) -> Identity? {
        let usedSince = now - Int64(idleDays) * 86_400 * 1_000_000
        return state.withLock { $0.use(digest, now: now, ifSince: usedSince) }
    }

    /// Returns the identity of a token's digest from the database; nil when there is no such session.
    package func find(_ digest: [UInt8], now: Int64) async throws -> Identity? {
        let restartCount = state.withLock { $0.revocations.restartCount }
        guard let found = try await store.findSession(digest: digest, idleDays: idleDays) else {
            return nil
        }
        return state.withLock { state in
            if state.revocations.contain(found.identity.session) { return nil }
            if state.revocations.areComplete(at: found.position, sinceRestart: restartCount) {
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

    /// Records that a session is in use. Returns false if this node knows that it has ended.
    package func touch(_ session: SessionID, now: Int64) -> Bool {
        state.withLock {
            if let digest = $0.digests[session] { _ = $0.use(digest, now: now) }
            return !$0.revocations.contain(session)
        }
    }

    /// Whether this node knows that the session has ended.
    package func isRevoked(_ session: SessionID) -> Bool { state.withLock { $0.revocations.contain(session) } }

    /// Records that a session has ended: at `position` of the log, or, nil, by this node just now.
    package func revoke(_ session: SessionID, at position: Position?) {
        state.withLock { state in
            if let digest = state.digests[session] { Self.remove(digest, &state) }
            state.revocations.record(session, at: position)
        }
    }

    /// Drops everything: the database has lost a part of what this node has read.
    func restart(at position: Position) {
        state.withLock { $0 = State(revocations: $0.revocations.restarted(at: position)) }
    }

    private static func remove(_ digest: [UInt8], _ state: inout State) {
        if let entry = state.entries.removeValue(forKey: digest) { state.digests[entry.identity.session] = nil }
    }

    /// How exactly the database knows the last use of a session: a device that polls all day causes a write every 5
    /// minutes.
    private static let reportIntervalMicros: Int64 = 300 * 1_000_000

    /// Reports to the database when sessions were last used.
    package func flush() async throws {
        let used = state.withLock { state in
            var used: [SessionID: Int64] = [:]
            for digest in state.listed {
                guard let index = state.entries.index(forKey: digest) else { continue }
                state.entries.values[index].isListed = false
                state.entries.values[index].reportedAt = state.entries.values[index].usedAt
                used[state.entries.values[index].identity.session] = state.entries.values[index].usedAt
            }
            state.listed.removeAll(keepingCapacity: true)
            return used
        }
        if !used.isEmpty { try await store.touchSessions(used) }
    }
}
