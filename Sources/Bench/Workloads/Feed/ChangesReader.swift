// A reader of the changes feed: asks again as soon as it has an answer, as an integration does.
import Synchronization

/// The counts of a reader's answers.
struct ChangesReading: Sendable {
    var messageCount = 0
    var eventCount = 0
    var answerCount = 0
    var faults = Faults()
}

/// Reads on an event loop of its own, until it is asked to finish and has everything.
final class ChangesReader: Sendable {
    static let path = "/v1/admin/changes"

    private let endpoint: Endpoint
    private let token: String
    private let cursor: String
    private let isFinishing = Atomic(false)

    init(_ endpoint: Endpoint, token: String, cursor: String) {
        self.endpoint = endpoint
        self.token = token
        self.cursor = cursor
    }

    /// Ends `run` once nothing is left to read.
    func finish() { isFinishing.store(true, ordering: .releasing) }

    func run() async throws -> ChangesReading {
        try await onEventLoop("bench-changes") { loop in
            ChangesLoop(loop, self.endpoint, token: self.token, cursor: self.cursor) {
                self.isFinishing.load(ordering: .acquiring)
            }.run()
        }
    }
}

private final class ChangesLoop: ConnectionOwner {
    /// Seconds that an answer may take.
    private static let answerMaxS = 30.0

    private let loop: EventLoop
    private let endpoint: Endpoint
    private let token: String
    private var cursor: String
    private let isFinishing: () -> Bool
    private var connection: Connection?
    private var watchdog: AnswerWatchdog?
    private var reading = ChangesReading()
    private var wasFinishing = false

    init(_ loop: EventLoop, _ endpoint: Endpoint, token: String, cursor: String, isFinishing: @escaping () -> Bool) {
        self.loop = loop
        self.endpoint = endpoint
        self.token = token
        self.cursor = cursor
        self.isFinishing = isFinishing
    }

    func run() -> ChangesReading {
        let connection = Connection(loop, endpoint, owner: self)
        self.connection = connection
        watchdog = AnswerWatchdog(loop, seconds: Self.answerMaxS) { [unowned self] in
            reading.faults.record("the changes feed sent no answer within \(Int(Self.answerMaxS)) s")
            loop.stop()
        }
        ask()
        loop.run()
        connection.close()
        return reading
    }

    private func ask() {
        let target = "\(ChangesReader.path)?wait=1&limit=200&cursor=\(cursor)"
        connection?.send(requestBytes("GET", target, at: endpoint, token: token))
    }

    func connection(_ connection: Connection, received answer: Answer) {
        watchdog?.answered()
        guard answer.status == 200 else {
            return end("the changes feed answered \(answer.status) \(answer.text.prefix(200))")
        }
        // If the sends were over when the last answer came, this one was asked for later, and an empty one is the last.
        let isFinishing = isFinishing()
        do {
            var messageCount = 0
            let page = try SyncAnswer.read(answer.body) { _ in messageCount += 1 }
            reading.messageCount += messageCount
            reading.eventCount += page.eventCount
            reading.answerCount += 1
            cursor = String(decoding: page.cursor, as: UTF8.self)
            if isFinishing, wasFinishing, page.eventCount == 0, !page.more { return loop.stop() }
            wasFinishing = isFinishing
            ask()
        } catch {
            end("\(error)")
        }
    }

    func connection(_ connection: Connection, failed failure: ConnectionFailure) { end(failure.description) }

    private func end(_ fault: String) {
        reading.faults.record(fault)
        loop.stop()
    }
}
