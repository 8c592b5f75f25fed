// Runs a client's workers while somebody is signed in: the poll, the outbox, the read marks.
import Foundation

final class Runner: Sendable {
    private let parts: Parts
    private struct State {
        var running: Task<Void, Never>?
        /// The last one that was stopped. The next one starts when it has ended.
        var stopped: Task<Void, Never>?
    }

    private let state = Locked(State())

    init(_ parts: Parts) { self.parts = parts }

    deinit { state.withLock { $0.running?.cancel() } }

    /// Starts the workers unless they run.
    func start() {
        state.withLock { [parts] state in
            guard state.running == nil else { return }
            // At once: a reader that asks right after a sign-in must not see the status from before.
            parts.live.setStatus(.connecting)
            state.running = Task { [stopped = state.stopped] in
                await stopped?.value
                await Self.run(parts)
            }
        }
    }

    /// Ends the workers and waits for their end. What they had begun is stored or begins again.
    func stop() async {
        let task = state.withLock { state in
            state.running?.cancel()
            state.stopped = state.running ?? state.stopped
            state.running = nil
            return state.stopped
        }
        await task?.value
    }

    private static func run(_ parts: Parts) async {
        while !Task.isCancelled {
            do {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await parts.sync.run() }
                    group.addTask { try await parts.outbox.run() }
                    group.addTask { try await parts.marks.run() }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            } catch let error as ParleyError where error.endsSession {
                return await parts.endSession(error.problem)
            } catch let error as ParleyError where error.kind == .closed {
                return
            } catch is CancellationError {
                return
            } catch {
                // The store failed, for example on a full disk: nothing can be kept, so nothing is asked.
                parts.live.setStatus(
                    .offline(until: .now + 1, reason: error as? ParleyError ?? .storeFailed("\(error)", cause: error)))
                await parts.store.changes.pause(.seconds(1))
            }
        }
    }
}

/// What a client's parts share.
struct Parts: Sendable {
    let store: ClientStore
    let connection: Connection
    let live: LiveState
    let history: History
    let outbox: Outbox
    let marks: MarkWorker
    let tokens: any TokenStorage

    var sync: SyncLoop { SyncLoop(store: store, connection: connection, live: live, history: history) }

    init(_ configuration: ParleyClient.Configuration) throws {
        store = try ClientStore(configuration.store)
        connection = Connection(server: configuration.server, transport: configuration.transport)
        live = LiveState(store.changes)
        history = History(store: store, connection: connection, live: live)
        outbox = Outbox(
            store: store, connection: connection, live: live, files: try OutboxFiles(configuration.store))
        marks = MarkWorker(store: store, connection: connection)
        tokens = configuration.tokens ?? Self.defaultTokens(configuration.store)
    }

    private static func defaultTokens(_ location: StoreLocation) -> any TokenStorage {
        switch location {
        case .file(let directory): FileTokenStorage(file: directory.appendingPathComponent("token"))
        case .memory: MemoryTokenStorage()
        }
    }

    /// The server has ended the session: everything that it showed must go. Unsent messages and drafts stay for the case
    /// that the same person signs in again.
    func endSession(_ problem: Problem?) async {
        try? tokens.save(nil)
        connection.setToken(nil)
        await erase(keepingUnsent: true)
        live.setStatus(.signedOut(problem))
    }

    /// Deletes the data of the account, also in a task that is being cancelled.
    func erase(keepingUnsent: Bool) async {
        let erasing = Task { [store] in try await store.write { try $0.erase(keepingUnsent: keepingUnsent) } }
        _ = await erasing.result
        live.clear()
    }
}

extension Fold {
    /// Deletes the data of the account.
    mutating func erase(keepingUnsent: Bool) throws {
        for table in ["thread", "message", "span", "member_list", "member", "mark", "missing_thread", "missing_newest"]
        {
            try db.run("delete from \(table)")
        }
        for key in ["cursor", "expired", "account", "blocked", "session"] { try db.setValue(key, nil) }
        if !keepingUnsent {
            try db.run("delete from outbox")
            try db.run("delete from draft")
            try db.setValue("user_id", nil)
        }
        touches.all = true
        changes.all = true
    }
}
