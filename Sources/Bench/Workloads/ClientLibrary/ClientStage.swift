// The account of `parley bench client`, its groups and their messages.
import Domain

/// An account that signs in by password, and a second person who is in all its groups.
struct ClientStage: Sendable {
    /// Messages that arrive in each thread while the client is offline.
    private static let eventsPerThread = 5
    /// Calls whose answers are in memory at once.
    private static let batchSize = 10_000

    let plan: ClientPlan
    let messageCount: Int
    private let peer: Account
    private let threads: [String]

    var eventCount: Int { threads.count * Self.eventsPerThread }

    static func make(_ bench: BenchRun) async throws -> ClientStage {
        let settings = bench.settings
        let endpoint = bench.endpoints[0]
        let messageCount = settings.messageCount ?? 100
        let threadCount = settings.threadCount ?? 1_000
        Progress.report("creating \(threadCount) groups with \(messageCount) messages each")
        let (username, password) = (uniqueName(0), uniqueName(0))
        let own = try await RegisteredAccounts.register(
            [(username: username, password: password, name: "Bench")], at: endpoint)[0]
        let peer = try await RegisteredAccounts(endpoint: endpoint).make(1)[0]
        let groups = (0..<threadCount).map { number in
            let body: JSONValue = .object([
                .init("kind", .string("group")), .init("title", .string("Group \(number)")),
                .init("members", .array([.string(peer.id)])),
            ])
            return Call("POST", "/v1/threads", token: own.token, body: body, status: 201)
        }
        let threads = try await Calls.run(groups, at: endpoint).map { try $0.string("id") }
        // Side by side in all threads, because the writes of one thread wait for one another.
        try await send(
            (0..<messageCount).flatMap { number in
                threads.enumerated().map { index, thread in
                    let sender = (number + index).isMultiple(of: 2) ? own : peer
                    return message(number * threads.count + index, to: thread, by: sender, settings.textByteCount)
                }
            }, at: endpoint)
        let plan = ClientPlan(
            url: settings.urls[0], username: username, password: password, threadCount: threads.count,
            messageCount: messageCount)
        return ClientStage(plan: plan, messageCount: messageCount, peer: peer, threads: threads)
    }

    /// Sends the messages that the next start of the client finds new.
    func sendEvents(_ bench: BenchRun) async throws {
        try await Self.send(
            (0..<Self.eventsPerThread).flatMap { number in
                threads.enumerated().map { index, thread in
                    Self.message(number * threads.count + index, to: thread, by: peer, bench.settings.textByteCount)
                }
            }, at: bench.endpoints[0])
    }

    private static func send(_ calls: [Call], at endpoint: Endpoint) async throws {
        for first in stride(from: 0, to: calls.count, by: batchSize) {
            let batch = Array(calls[first..<min(first + batchSize, calls.count)])
            _ = try await Calls.run(batch, at: endpoint, connectionCount: 64)
        }
    }

    private static func message(_ number: Int, to thread: String, by sender: Account, _ byteCount: Int) -> Call {
        Call(
            "POST", "/v1/threads/\(thread)/messages", token: sender.token,
            body: .object([.init("payload", .object([.init("text", .string(text(number, byteCount)))]))]), status: 201)
    }

    /// Words of a language, because the client indexes them.
    private static let words = """
        we meet at noon in front of the station and walk to river harbour lunch was better than yesterday please bring \
        your umbrella tickets camera because rain may come later train leaves platform seven call me when you arrive
        """.split(separator: " ")

    /// A text of exactly this many bytes, other words for other numbers.
    private static func text(_ number: Int, _ byteCount: Int) -> String {
        var text = "\(number)"
        var index = number
        while text.utf8.count < byteCount {
            text += " " + words[index % words.count]
            index += 1 + number % 7
        }
        return String(text.prefix(byteCount))
    }
}
