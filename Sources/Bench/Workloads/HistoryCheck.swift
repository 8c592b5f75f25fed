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

/// What the nodes hold of some threads, read page by page.
struct ThreadHistories: Sendable {
    /// The last seq of each thread.
    private(set) var heads: [ThreadKey: Int64] = [:]
    /// Seqs that are missing, duplicated or out of order, as phrases.
    private(set) var faults: [String] = []

    /// Reads one page of each thread at a time, spread over the nodes.
    /// - Throws: `BenchFailure` when a history cannot be read.
    static func read(_ threads: [HistorySource], at endpoints: [Endpoint]) async throws -> ThreadHistories {
        var histories = ThreadHistories()
        var unread = threads
        while !unread.isEmpty {
            var rest: [HistorySource] = []
            for (number, endpoint) in endpoints.enumerated() {
                let own = stride(from: number, to: unread.count, by: endpoints.count).map { unread[$0] }
                let pages = try await Calls.run(own.map(histories.nextPage), at: endpoint)
                for (thread, page) in zip(own, pages) {
                    do {
                        if try !histories.readPage(page.body, of: thread) { rest.append(thread) }
                    } catch {
                        throw BenchFailure("the history of \(thread.id): \(error)")
                    }
                }
            }
            unread = rest
        }
        return histories
    }

    private func nextPage(_ thread: HistorySource) -> Call {
        let target = "/v1/threads/\(thread.id)/messages?after=\(heads[thread.key] ?? 0)&limit=200"
        return Call("GET", target, token: thread.token, status: 200)
    }

    /// Returns true for the last page.
    private mutating func readPage(_ body: [UInt8], of thread: HistorySource) throws(BadResponse) -> Bool {
        let (seqs, isEnd) = try Self.page(body)
        // Otherwise the next page would be this one again, without end.
        guard isEnd || !seqs.isEmpty else { throw BadResponse(description: "an empty page, and not the last") }
        var head = heads[thread.key] ?? 0
        for seq in seqs {
            if seq != head + 1 { faults.append("in the history of \(thread.id) \(seq) follows \(head)") }
            // Moves forward in any case, because the next page is requested by it.
            head = max(seq, head + 1)
        }
        heads[thread.key] = head
        return isEnd
    }

    private static func page(_ body: [UInt8]) throws(BadResponse) -> (seqs: [Int64], isEnd: Bool) {
        let read = body.withUnsafeBytes { bytes in
            Result { () throws(BadResponse) in
                var walker = JSONWalker(bytes)
                var (seqs, isEnd): ([Int64], Bool) = ([], false)
                try walker.enterObject()
                while let key = try walker.key() {
                    if key.equals("end") {
                        isEnd = try walker.bool()
                    } else if key.equals("messages") {
                        try walker.enterArray()
                        while try walker.hasItem() { seqs.append(try SeenMessage(&walker).seq) }
                    } else {
                        try walker.skip()
                    }
                }
                return (seqs, isEnd)
            }
        }
        return try read.get()
    }
}
