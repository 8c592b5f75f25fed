// Read and delivered marks of the caller, and the marks of others for a message.
import Domain
import Log
import Store

struct ReceiptCalls: Sendable {
    let store: Store
    let writer: Writer<SendWaiter>
    let rates: RateLimits

    /// Entries in one call. A device that was offline for days reports all its threads at once.
    static let countMax = 1_000

    var routes: [Route] {
        [
            Route(.put, "/v1/threads/{thread_id}/receipts", .putReceipt, body: .small, .signedIn(putReceipt)),
            Route(.post, "/v1/receipts", .putReceipts, body: .receipts, repeats: .ignored, .signedIn(putReceipts)),
            Route(
                .get, "/v1/threads/{thread_id}/messages/{message_id}/receipts", .listReceipts, query: .read,
                .signedIn(listReceipts)),
            Route(.put, "/v1/threads/{thread_id}/unread", .putUnread, body: .small, .signedIn(putUnread)),
        ]
    }

    private func putReceipt(_ call: Call, _ identity: Identity) async throws -> Answer {
        let thread = try call.thread()
        let marks = try await call.fields { fields in
            let marks = ReceiptMarks(&fields)
            try fields.end()
            return marks
        }
        do {
            try await writer.put(marks.move(identity, thread))
        } catch let problem as Problem {
            throw marks.named(problem)
        }
        return .noContent
    }

    /// Checks all entries first, then moves each mark by itself. Reports the first move that fails.
    private func putReceipts(_ call: Call, _ identity: Identity) async throws -> Answer {
        let entries = try await call.fields { fields in
            let entries = fields.required("receipts") { json throws(Invalid) in
                try json.entries(countMax: Self.countMax) { entry throws(Invalid) in try ReceiptEntry(entry) }
            }
            return try fields.values(entries)
        }
        try rates.take(.receiptsOfAccount, by: identity.user, cost: entries.count - 1)
        let writer = writer
        let first = try await withThrowingTaskGroup(of: (index: Int, problem: Problem)?.self) { group in
            for (index, entry) in entries.enumerated() {
                group.addTask {
                    do {
                        try await writer.put(entry.marks.move(identity, entry.thread))
                        return nil
                    } catch let problem as Problem {
                        return (index, entry.marks.named(problem))
                    }
                }
            }
            var first: (index: Int, problem: Problem)?
            for try await failed in group {
                guard let failed, failed.index < first?.index ?? .max else { continue }
                first = failed
            }
            return first
        }
        guard let first else { return .noContent }
        var problem = first.problem
        let path = "receipts[\(first.index)]"
        problem.fields =
            problem.fields.isEmpty
            ? [Problem.Field(path, problem.detail)]
            : problem.fields.map { Problem.Field("\(path).\($0.field)", $0.detail) }
        throw problem
    }

    private func listReceipts(_ call: Call, _ identity: Identity) async throws -> Answer {
        try await call.list("receipts") {
            try await store.receipts(of: call.message(), in: call.thread(), for: identity.user, $0)
        }
    }

    private func putUnread(_ call: Call, _ identity: Identity) async throws -> Answer {
        let thread = try call.thread()
        let from = try await call.fields { fields in
            let from = fields.required("from", Seq.self)
            return try fields.values(from)
        }
        try await store.putUnread(from: from, in: thread, by: identity.user)
        return .noContent
    }
}

/// `read`, `delivered` or both.
private struct ReceiptMarks: Sendable {
    let read: Seq?
    let delivered: Seq?

    init(_ fields: inout Fields<JSONValue>) {
        read = fields.optional("read", Seq.self)
        delivered = fields.optional("delivered", Seq.self)
        if read == nil, delivered == nil, !fields.isRefused("read"), !fields.isRefused("delivered") {
            fields.refuse("read", "Send `read`, `delivered` or both.")
        }
    }

    func move(_ identity: Identity, _ thread: ThreadID) -> ReceiptMove {
        ReceiptMove(
            user: identity.user, session: identity.session, thread: thread, read: read, delivered: delivered)
    }

    /// Names the field of a problem. The writer knows one seq and the client sent two fields. The larger one is above
    /// the head.
    func named(_ problem: Problem) -> Problem {
        var problem = problem
        let name = read ?? Seq(-1) >= delivered ?? Seq(-1) ? "read" : "delivered"
        problem.fields = problem.fields.map { Problem.Field(name, $0.detail) }
        return problem
    }
}

private struct ReceiptEntry: JSONField {
    let thread: ThreadID
    let marks: ReceiptMarks

    init(_ json: JSONValue) throws(Invalid) {
        var fields = try Fields(json)
        let thread = fields.required("thread_id", ThreadID.self)
        marks = ReceiptMarks(&fields)
        self.thread = try fields.values(thread)
    }
}
