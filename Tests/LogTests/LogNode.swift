// A node without its HTTP: writer, tail and hub on a real database. Devices are loops that poll the hub.
import Domain
import Log
import Postgres
import Store
import Synchronization
import TestSupport

/// A parked poll of a test's device: the continuation that its answer resumes.
final class DeviceWaiter: Waiter {
    private enum State { case empty, waiting(CheckedContinuation<PollAnswer, Never>), answered(PollAnswer) }
    private let state = Mutex(State.empty)

    func answer(_ answer: PollAnswer) {
        let waiting: CheckedContinuation<PollAnswer, Never>? = state.withLock { state in
            defer { state = .answered(answer) }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        waiting?.resume(returning: answer)
    }

    /// Ends with its task, so that a failing test does not hang.
    func wait() async -> PollAnswer {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answered: PollAnswer? = state.withLock {
                    if case .answered(let answer) = $0 { return answer }
                    $0 = .waiting(continuation)
                    return nil
                }
                if let answered { continuation.resume(returning: answered) }
            }
        } onCancel: {
            answer(.revoked)
        }
    }
}

typealias MessageWaiter = CheckedContinuation<Result<Store.Appended, Problem>, Never>

extension Writer where Caller == MessageWaiter {
    /// Appends a message, and waits for the outcome.
    func append(_ message: NewMessage) async throws -> (created: Bool, message: JSONText) {
        switch try await withCheckedContinuation({ append(message, waiter: $0) }).get() {
        case .created(let stored, _): (true, stored)
        case .exists(let stored): (false, stored)
        case .refused(let problem): throw problem
        }
    }
}

extension Store {
    /// Appends a batch without a node's writer.
    func append(_ batch: [NewMessage]) async throws(BatchFailure) -> [Appended] {
        let rows = await withCheckedContinuation { continuation in
            append(batch) { continuation.resume(returning: $0) }
        }
        return try Self.appended(rows.get(), batch).outcomes
    }
}

struct LogNode: Sendable {
    let client: PostgresClient
    let store: Store
    private let log: LogComponents<MessageWaiter>

    var writer: Writer<MessageWaiter> { log.writer }
    var hub: Hub { log.hub }
    var tail: Tail { log.tail }

    /// - Parameter channel: another than the log's makes a node that receives no notification.
    init(
        conninfo: String, limits: HubLimits = HubLimits(), channel: String? = nil
    ) async throws {
        let settings = PostgresSettings(test: conninfo)
        client = PostgresClient(settings, logger: .quiet)
        store = Store(client)
        log = try await LogComponents(
            store, listener: { NotificationListener(settings, channel: $0, logger: .quiet) }, channel: channel,
            sessions: SessionCache(store), limits: limits, logger: .quiet,
            send: { wakes in
                for wake in wakes {
                    for case let waiter as DeviceWaiter in wake.waiters { waiter.answer(wake.answer) }
                }
            },
            answer: { for (waiter, outcome) in $0 { waiter.resume(returning: outcome) } })
    }

    /// Runs the node while `body` does.
    func running<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                // Sleeping throws when the group is cancelled: the pool closes with the node.
                try? await Task.sleep(for: .seconds(86_400))
                await client.shutdown()
                return nil
            }
            // The tests report devices and receipts themselves.
            for component in log.components where ["tail", "hub"].contains(component.name) {
                group.addTask {
                    try await component.run?(); return nil
                }
            }
            group.addTask { try await body() }
            defer {
                writer.close()
                group.cancelAll()
            }
            while let value = try await group.next() {
                if let value { return value }
            }
            throw CancellationError()
        }
    }

    /// One poll as a client makes it.
    func poll(_ identity: Identity, from cursor: Cursor, limit: Int = 100, waitMs: Int) async throws -> PollAnswer {
        let waiter = DeviceWaiter()
        var outcome = hub.poll(identity, from: cursor, limit: limit, waitMs: waitMs, waiter: waiter)
        if case .cold = outcome {
            outcome = try await hub.read(identity, from: cursor, limit: limit, waitMs: waitMs, waiter: waiter)
        }
        switch outcome {
        case .answer(let answer): return answer
        case .parked: return await waiter.wait()
        case .cold, .expired: throw Problem(.cursorExpired, "expired")
        }
    }
}

/// Accounts and threads for tests, made as the service makes them.
struct People: Sendable {
    let users: [UserID]

    init(_ count: Int, in store: Store) async throws {
        var users: [UserID] = []
        for index in 0..<count {
            let user = UserID.make()
            _ = try await store.register(
                user: user, username: "u\(index)-\(user)", key: "u\(index)-\(user)", name: "User \(index)",
                words: ["user"], passwordHash: "-",
                session: NewSession(
                    id: SessionID.make(), digest: Array("\(user)".utf8), deviceName: nil, accountCountMax: 100))
            users.append(user)
        }
        self.users = users
    }

    func group(_ members: [UserID], in store: Store) async throws -> ThreadID {
        let thread = ThreadID.make()
        _ = try await store.createThread(
            id: thread, kind: .group, title: "t", roomKey: nil, creator: members[0],
            members: Array(members.dropFirst()),
            invite: false, retention: .forever)
        return thread
    }
}

extension NewMessage {
    static func text(_ text: String, in thread: ThreadID, by sender: UserID, id: MessageID = .make()) -> NewMessage {
        NewMessage(
            id: id, thread: thread, sender: sender, type: "message",
            payload: JSONText(utf8: Array("{\"text\":\"\(text)\"}".utf8)))
    }
}
