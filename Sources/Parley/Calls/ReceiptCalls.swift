// Read and delivered marks, and typing.

extension Call {
    /// Read and delivered marks, and typing.
    public static var receipts: ReceiptCalls { ReceiptCalls() }
}

/// How far the user has read a thread, and this device has received it. Nil leaves a mark where it is.
public struct ThreadMarks: Sendable, Hashable {
    /// The thread.
    public var thread: ThreadID
    /// The user has read everything up to this seq.
    public var read: Seq?
    /// This device has everything up to this seq.
    public var delivered: Seq?

    /// Makes the marks of one thread.
    public init(thread: ThreadID, read: Seq? = nil, delivered: Seq? = nil) {
        self.thread = thread
        self.read = read
        self.delivered = delivered
    }

    fileprivate var json: JSONValue {
        .fields(["read": read.map { .init($0) }, "delivered": delivered.map { .init($0) }])
    }
}

/// `Call.receipts`.
public struct ReceiptCalls: Sendable {
    /// Moves marks forward. `PUT /v1/threads/{thread_id}/receipts`
    public func move(_ marks: ThreadMarks) -> Call<Void> {
        Call("PUT", "v1", "threads", marks.thread.rawValue, "receipts", body: marks.json)
    }

    /// Moves marks in at most 1,000 threads. `POST /v1/receipts`
    public func move(all marks: [ThreadMarks]) -> Call<Void> {
        let entries = marks.map { mark in
            var entry = mark.json
            entry["thread_id"] = .init(mark.thread)
            return entry
        }
        return Call("POST", "v1", "receipts", body: ["receipts": .array(entries)])
    }

    /// Marks a thread as unread from a message on, for the user only. `PUT /v1/threads/{thread_id}/unread`
    public func markUnread(from seq: Seq, in thread: ThreadID) -> Call<Void> {
        Call("PUT", "v1", "threads", thread.rawValue, "unread", body: ["from": .init(seq)])
    }

    /// Publishes that the user is typing. Others show it for 6 s. `PUT /v1/threads/{thread_id}/typing`
    public func typing(in thread: ThreadID) -> Call<Void> {
        Call("PUT", "v1", "threads", thread.rawValue, "typing")
    }
}
