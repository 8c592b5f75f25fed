// API calls for setting up a run and for reading its results: many at once, each with its answer.
import Domain

/// A call and the status that its answer must have.
struct Call: Sendable {
    let method: String
    let target: String
    let token: String?
    let body: JSONValue?
    let statuses: [Int]

    init(_ method: String, _ target: String, token: String? = nil, body: JSONValue? = nil, status: Int...) {
        self.method = method
        self.target = target
        self.token = token
        self.body = body
        statuses = status
    }
}

struct Reply: Sendable {
    let status: Int
    let body: [UInt8]
    var text: String { String(decoding: body, as: UTF8.self) }

    /// A string of the JSON body, by its path.
    func string(_ path: String...) throws -> String {
        var value = try JSONReader.read(body)
        for key in path { value = value[key] ?? .null }
        guard let text = value.string else { throw BenchFailure("no \(path.joined(separator: ".")) in \(text)") }
        return text
    }
}

enum Calls {
    /// Makes the calls on `connectionCount` connections. The answers are in the order of the calls.
    /// - Throws: `BenchFailure` at the first answer with another status.
    static func run(_ calls: [Call], at endpoint: Endpoint, connectionCount: Int = 8) async throws -> [Reply] {
        try await onEventLoop("bench-calls") { loop in
            try CallRunner(loop, calls, endpoint).run(connectionCount: min(connectionCount, calls.count))
        }
    }
}

private final class CallRunner: ConnectionOwner {
    /// Seconds. Every call of this API answers sooner, unless the node hangs.
    private static let answerMaxS = 60.0

    private let loop: EventLoop
    private let endpoint: Endpoint
    private let calls: [Call]
    private var replies: [Reply?]
    private var startedCount = 0
    private var answeredCount = 0
    private var failure: BenchFailure?
    private var watchdog: AnswerWatchdog?
    /// The call that each connection makes, by its tag.
    private var at: [Int] = []

    init(_ loop: EventLoop, _ calls: [Call], _ endpoint: Endpoint) {
        self.loop = loop
        self.calls = calls
        self.endpoint = endpoint
        replies = Array(repeating: nil, count: calls.count)
    }

    func run(connectionCount: Int) throws -> [Reply] {
        guard !calls.isEmpty else { return [] }
        let connections = (0..<connectionCount).map { Connection(loop, endpoint, tag: $0, owner: self) }
        at = Array(repeating: 0, count: connectionCount)
        watchdog = AnswerWatchdog(loop, seconds: Self.answerMaxS) { [unowned self] in
            fail("\(endpoint) sent no answer for \(Int(Self.answerMaxS)) s")
        }
        for connection in connections { next(on: connection) }
        if failure == nil { loop.run() }
        for connection in connections { connection.close() }
        if let failure { throw failure }
        return replies.compactMap { $0 }
    }

    private func next(on connection: Connection) {
        guard startedCount < calls.count, failure == nil else { return }
        let call = calls[startedCount]
        at[connection.tag] = startedCount
        startedCount += 1
        let body = call.body.map { String(decoding: $0.compactText.utf8, as: UTF8.self) }
        connection.send(requestBytes(call.method, call.target, at: endpoint, token: call.token, body: body))
    }

    private func fail(_ reason: String) {
        failure = failure ?? BenchFailure(reason)
        loop.stop()
    }

    func connection(_ connection: Connection, received answer: Answer) {
        watchdog?.answered()
        let call = calls[at[connection.tag]]
        guard call.statuses.contains(answer.status) else {
            return fail("\(call.method) \(call.target): \(answer.status) \(answer.text.prefix(500))")
        }
        replies[at[connection.tag]] = Reply(status: answer.status, body: Array(answer.body))
        answeredCount += 1
        if answeredCount == calls.count { loop.stop() } else { next(on: connection) }
    }

    func connection(_ connection: Connection, failed failure: ConnectionFailure) {
        let call = calls[at[connection.tag]]
        fail("\(endpoint): \(call.method) \(call.target): \(failure)")
    }
}
