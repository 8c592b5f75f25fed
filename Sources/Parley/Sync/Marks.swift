// Read marks: shown at once, kept until the server has confirmed them, sent in one call for all threads.
import Foundation

extension Fold {
    /// Records that the user has read up to a seq.
    mutating func setMark(_ seq: Seq, in id: ThreadID) throws {
        guard let thread = try thread(id.rawValue), seq > thread.readSeq else { return }
        try db.run(
            """
            insert into mark (thread_id, read_seq) values (?, ?) on conflict (thread_id)
            do update set read_seq = excluded.read_seq, confirmed = null where excluded.read_seq > read_seq
            """, [id.rawValue, min(seq, thread.head).rawValue])
        changes.threads.insert(id.rawValue)
        changes.timelines.insert(id.rawValue)
    }

    /// The server has marked a thread as unread from a seq on. Its event brings the counts. A mark that the user has made
    /// since is still to be sent.
    mutating func showUnread(from seq: Seq, in id: ThreadID, unless touches: Touches) throws {
        try db.run("delete from mark where thread_id = ? and confirmed is not null", [id.rawValue])
        changes.threads.insert(id.rawValue)
        changes.timelines.insert(id.rawValue)
        guard !touches.concern(id) else { return }
        try change(id.rawValue) { thread in thread.setMe(["read_seq": .init(min(thread.readSeq, seq - 1))]) }
    }

    mutating func removeMark(in id: ThreadID) throws {
        try db.run("delete from mark where thread_id = ?", [id.rawValue])
        changes.threads.insert(id.rawValue)
        changes.timelines.insert(id.rawValue)
    }

    /// The server has a mark. Its event, with the counts, arrives by the end of the next poll.
    mutating func confirmMark(_ seq: Seq, in id: String, poll: Int) throws {
        try db.run("update mark set confirmed = ? where thread_id = ? and read_seq = ?", [poll, id, seq.rawValue])
        changes.marks = true
    }

    /// Polls have new numbers after a start.
    mutating func confirmMarksAgain() throws {
        try db.run("update mark set confirmed = 0 where confirmed is not null")
    }

    mutating func dropConfirmedMarks(before poll: Int) throws {
        let done: [String] = try db.all("select thread_id from mark where confirmed < ?", [poll])
        for id in done { try removeMark(in: ThreadID(id)) }
    }
}

/// Sends read marks. A call is in flight at a time, so marks arrive in the order in which the user made them.
actor MarkWorker {
    private let store: ClientStore
    private let connection: Connection
    private var running: Task<Void, any Error>?

    init(store: ClientStore, connection: Connection) {
        self.store = store
        self.connection = connection
    }

    /// Sends marks as they come, until the task is cancelled.
    func run() async throws {
        let listener = store.changes.listen { $0.all || !$0.threads.isEmpty }
        var backoff = Backoff()
        while !Task.isCancelled {
            do {
                try await send()
                backoff.succeeded()
                guard await listener.signal.wait() else { break }
            } catch let error as ParleyError where !error.endsSession && error.kind != .closed {
                await store.changes.pause(backoff.failed(error))
            }
        }
        throw CancellationError()
    }

    /// Sends all marks, then runs `call`: nothing overtakes.
    func inOrder(_ call: @escaping @Sendable () async throws -> Void) async throws {
        let before = running
        let task = Task {
            _ = await before?.result
            try await self.flush()
            try await call()
        }
        running = task
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func send() async throws {
        try await inOrder {}
    }

    private func flush() async throws {
        while true {
            let marks = try await store.read { db in
                try db.rows("select thread_id, read_seq from mark where confirmed is null limit 1000").map {
                    ($0["thread_id"] as String, $0.seq("read_seq") ?? 0)
                }
            }
            if marks.isEmpty { return }
            do {
                try await put(marks)
            } catch let error as ParleyError where error.isFinalRefusal {
                // One thread is gone, or a restored server has fewer messages. The others' marks must arrive.
                for mark in marks { try await putOne(mark) }
            }
        }
    }

    private func put(_ marks: [(id: String, seq: Seq)]) async throws {
        try await connection.call(
            .receipts.move(all: marks.map { ThreadMarks(thread: ThreadID($0.id), read: $0.seq) }))
        let poll = store.currentPoll
        try await store.write { fold in
            for mark in marks { try fold.confirmMark(mark.seq, in: mark.id, poll: poll) }
        }
    }

    private func putOne(_ mark: (id: String, seq: Seq)) async throws {
        do {
            try await put([mark])
        } catch let error as ParleyError where error.isFinalRefusal {
            try await store.write { try $0.removeMark(in: ThreadID(mark.id)) }
        }
    }
}
