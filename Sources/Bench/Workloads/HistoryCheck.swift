// After sending: checks that each thread's history holds what was acknowledged, numbered without holes.

/// The acknowledged seqs of one thread.
struct SeqSet: Sendable {
    private var words: [UInt64] = []
    private(set) var count = 0
    private(set) var max: Int64 = 0

    /// Returns false if the seq was there already. 3 ns.
    mutating func insert(_ seq: Int64) -> Bool {
        let (word, bit) = (Int(seq >> 6), UInt64(1) << UInt64(seq & 63))
        if word >= words.count { words.append(contentsOf: repeatElement(0, count: word - words.count + 64)) }
        guard words[word] & bit == 0 else { return false }
        words[word] |= bit
        count += 1
        max = Swift.max(max, seq)
        return true
    }
}

/// Where to read a thread's history, as one of its members.
struct HistorySource: Sendable {
    let id: String
    let key: ThreadKey
    let token: String
}

struct ThreadHistories: Sendable {
    /// The last seq of each thread.
    private(set) var heads: [ThreadKey: Int64] = [:]
    /// Seqs that are missing, duplicated or out of order, as phrases.
    private(set) var faults: [String] = []

    /// Reads the threads page by page.
    /// - Throws: `BenchFailure` when a history cannot be read.
    static func read(_ threads: [HistorySource], at endpoints: [Endpoint]) async throws -> ThreadHistories {
        let (heads, faults) = try await onEventLoop("bench-history") { loop in
            try HistoryReader(loop, threads, endpoints).run()
        }
        return ThreadHistories(heads: Dictionary(zip(threads.map(\.key), heads)) { $1 }, faults: faults)
    }
}

/// Reads eight threads at a time.
private final class HistoryReader: ConnectionOwner {
    /// Seconds. A page takes milliseconds, unless the node hangs.
    private static let answerMaxS = 60.0

    private let loop: EventLoop
    private let threads: [HistorySource]
    private let endpoints: [Endpoint]
    private var heads: [Int64]
    /// The thread that each connection reads, by its tag.
    private var at: [Int] = []
    private var startedCount = 0
    private var finishedCount = 0
    private var failure: BenchFailure?
    private var watchdog: AnswerWatchdog?
    private var faults: [String] = []

    init(_ loop: EventLoop, _ threads: [HistorySource], _ endpoints: [Endpoint]) {
        self.loop = loop
        self.threads = threads
        self.endpoints = endpoints
        heads = Array(repeating: 0, count: threads.count)
    }

    func run() throws -> (heads: [Int64], faults: [String]) {
        let connections = (0..<min(8, threads.count)).map { number in
            Connection(loop, endpoints[number % endpoints.count], tag: number, owner: self)
        }
        at = Array(repeating: 0, count: connections.count)
        watchdog = AnswerWatchdog(loop, seconds: Self.answerMaxS) { [unowned self] in
            fail("the histories: no answer for \(Int(Self.answerMaxS)) s")
        }
        for connection in connections { begin(on: connection) }
        if finishedCount < threads.count, failure == nil { loop.run() }
        for connection in connections { connection.close() }
        if let failure { throw failure }
        return (heads, faults)
    }

    private func begin(on connection: Connection) {
        guard startedCount < threads.count else { return }
        at[connection.tag] = startedCount
        startedCount += 1
        ask(connection)
    }

    private func ask(_ connection: Connection) {
        let index = at[connection.tag]
        let target = "/v1/threads/\(threads[index].id)/messages?after=\(heads[index])&limit=200"
        connection.send(requestBytes("GET", target, at: connection.endpoint, token: threads[index].token))
    }

    func connection(_ connection: Connection, received answer: Answer) {
        watchdog?.answered()
        let index = at[connection.tag]
        do {
            guard answer.status == 200 else { throw BadResponse(description: "\(answer.status) \(answer.text)") }
            guard try readPage(answer.body, index) else { return ask(connection) }
            finishedCount += 1
            if finishedCount == threads.count { loop.stop() } else { begin(on: connection) }
        } catch {
            fail("the history of \(threads[index].id): \(error)")
        }
    }

    /// Returns true for the last page.
    private func readPage(_ body: UnsafeRawBufferPointer, _ index: Int) throws(BadResponse) -> Bool {
        var walker = JSONWalker(body)
        let headBefore = heads[index]
        var isEnd = false
        try walker.enterObject()
        while let key = try walker.key() {
            if key.equals("end") {
                isEnd = try walker.bool()
            } else if key.equals("messages") {
                try walker.enterArray()
                while try walker.hasItem() {
                    let seq = try SeenMessage(&walker).seq
                    if seq != heads[index] + 1 {
                        faults.append("in the history of \(threads[index].id) \(seq) follows \(heads[index])")
                    }
                    // Moves forward in any case, because the next page is requested by it.
                    heads[index] = max(seq, heads[index] + 1)
                }
            } else {
                try walker.skip()
            }
        }
        // Otherwise the next page would be this one again, without end.
        guard isEnd || heads[index] > headBefore else {
            throw BadResponse(description: "an empty page, and not the last")
        }
        return isEnd
    }

    func connection(_ connection: Connection, failed failure: ConnectionFailure) {
        fail("the history of \(threads[at[connection.tag]].id): \(failure)")
    }

    private func fail(_ reason: String) {
        failure = failure ?? BenchFailure(reason)
        loop.stop()
    }
}
