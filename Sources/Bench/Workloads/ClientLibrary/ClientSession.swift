// One process of `parley bench client` as an app: it uses only the client library's public API.
import Foundation
import Parley

struct ClientSession: Sendable {
    private let client: ParleyClient
    private let plan: ClientPlan
    private let began: MonotonicTime
    private let openedMs: Double

    /// Opens the store, as an app does at its start.
    init(_ plan: ClientPlan, store: URL, began: MonotonicTime) throws {
        guard let server = URL(string: plan.url) else { throw BenchFailure("\(plan.url) is not an address") }
        self.plan = plan
        self.began = began
        client = try ParleyClient(.init(server: server, store: .file(directory: store), deviceName: "bench"))
        openedMs = Self.ms(since: began)
    }

    func run(_ phase: ClientPhase) async throws -> ClientPhaseResult {
        var result = ClientPhaseResult()
        result.marksMs["opened"] = openedMs
        switch phase {
        case .firstSync: try await signIn(&result)
        case .fill: try await fill(&result)
        case .coldStart: try await start(&result)
        case .catchUp:
            try await waitUntilLive()
            mark("caught_up", &result)
        case .send: try await send(&result)
        }
        let rows = await inbox()
        result.inbox = .init(threads: rows.count, heads: rows.reduce(0) { $0 + $1.thread.head.rawValue })
        await client.close()
        return result
    }

    private func signIn(_ result: inout ClientPhaseResult) async throws {
        try await client.signIn(.password(username: plan.username, password: plan.password))
        mark("signed_in", &result)
        try await waitUntilLive()
        _ = await inbox()
        mark("synced", &result)
    }

    private func start(_ result: inout ClientPhaseResult) async throws {
        let rows = await inbox()
        mark("inbox", &result)
        guard let first = rows.first else { throw BenchFailure("the inbox is empty") }
        _ = await snapshot(client.thread(first.id).timeline(around: .newest))
        mark("timeline", &result)
        try await waitUntilLive()
        mark("live", &result)
    }

    private func fill(_ result: inout ClientPhaseResult) async throws {
        try await waitUntilLive()
        for row in await inbox() {
            let messages = try await wholeThread(row.id).count { $0.message != nil }
            guard messages >= plan.messageCount else {
                throw BenchFailure("thread \(row.id) has \(messages) of \(plan.messageCount) messages")
            }
        }
        mark("filled", &result)
    }

    /// The timeline, once it begins with the first message and has no holes.
    private func wholeThread(_ id: ThreadID) async throws -> [TimelineRow] {
        let timeline = client.thread(id).timeline(around: .newest)
        var rows: [TimelineRow] = []
        for await change in timeline {
            change.apply(to: &rows)
            if rows.contains(where: { if case .hole = $0 { true } else { false } }) { continue }
            if timeline.isAtStart { break }
            try await timeline.loadEarlier(200)
        }
        return rows
    }

    private func send(_ result: inout ClientPhaseResult) async throws {
        try await waitUntilLive()
        guard let row = await inbox().first else { throw BenchFailure("the inbox is empty") }
        for number in 0..<ClientPhaseRun.sendCount {
            let from = MonotonicTime.now
            let message = try await client.thread(row.id).send(.text("Message \(number)"))
            for await state in message.states {
                if case .sent = state { break }
                if case .failed(let error) = state { throw error }
            }
            result.sendsMs.append(Self.ms(since: from))
        }
        // The head moves with events, and the last one may come after the last answer.
        let head = row.thread.head.advanced(by: ClientPhaseRun.sendCount)
        var rows: [InboxRow] = []
        for await change in client.inbox() {
            change.apply(to: &rows)
            if rows.contains(where: { $0.id == row.id && $0.thread.head >= head }) { return }
        }
        throw BenchFailure("the client has closed")
    }

    // MARK: Waiting

    private func waitUntilLive() async throws {
        for await status in client.status {
            switch status {
            case .live: return
            case .signedOut, .offline: throw BenchFailure("the client is \(status)")
            default: continue
            }
        }
        throw BenchFailure("the client has closed")
    }

    private func inbox() async -> [InboxRow] { await snapshot(client.inbox()) }

    /// The first state of a list.
    private func snapshot<Row, List: AsyncSequence>(_ list: List) async -> [Row]
    where List.Element == ListChange<Row>, List.Failure == Never {
        for await case .snapshot(let rows) in list { return rows }
        return []
    }

    private func mark(_ name: String, _ result: inout ClientPhaseResult) {
        result.marksMs[name] = Self.ms(since: began)
    }

    private static func ms(since moment: MonotonicTime) -> Double { Double(MonotonicTime.now - moment) / 1e6 }
}
