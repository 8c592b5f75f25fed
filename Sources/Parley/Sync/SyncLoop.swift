// The one long poll of a client: events and cursor go into the store together, and a poll follows a poll for ever.
import Foundation

struct SyncLoop: Sendable {
    let store: ClientStore
    let connection: Connection
    let live: LiveState
    let history: History

    /// Runs until the task is cancelled. Throws `refused` with status 401 when the session has ended.
    func run() async throws {
        var backoff = Backoff()
        var wait = Duration.zero
        var hasPresence = false
        live.setStatus(.connecting)
        try await store.write { try $0.confirmMarksAgain() }
        while !Task.isCancelled {
            do {
                wait = try await step(wait)
                backoff.succeeded()
                if !hasPresence, live.status == .live {
                    if live.presence.isEmpty { try? await loadPresence() }
                    hasPresence = true
                }
            } catch let error as ParleyError where !error.endsSession && error.kind != .closed {
                let pause = backoff.failed(error)
                live.setStatus(.offline(until: .now + pause / .seconds(1), reason: error))
                live.forgetPresence()
                hasPresence = false
                await store.changes.pause(pause)
                wait = .zero
            }
        }
        throw CancellationError()
    }

    static let wait = Duration.seconds(25)

    /// One answer of the server, or the first inbox. Returns how long the next poll may wait: not at all
    /// after an inbox, because events may have followed its cursor.
    private func step(_ wait: Duration) async throws -> Duration {
        guard let cursor = try await store.read({ try $0.value("cursor") }) else {
            live.setStatus(.behind)
            try await reload()
            return .zero
        }
        // An answer may name a thread that is missing, and the repair of the last one may have been cut off.
        try await history.repair()
        let poll = store.nextPoll()
        do {
            let answer = try await connection.call(.sync.events(after: cursor, wait: wait, limit: 200).raw)
            try await take(answer, poll: poll)
            return Self.wait
        } catch let error as ParleyError where error.problem?.status == 410 {
            live.setStatus(.behind)
            // Stored first: after a crash the reload still knows what it has to ask.
            try await store.write { fold in
                try fold.db.setValue("expired", cursor)
                try fold.db.setValue("cursor", nil)
            }
            try await reload()
            return .zero
        }
    }

    private func take(_ answer: JSONValue, poll: Int) async throws {
        guard let cursor = answer["cursor"]?.string, let events = answer["events"]?.array else {
            throw ParleyError.unreadableAnswer("an answer of GET /v1/sync has no events or no cursor")
        }
        let more = answer["more"]?.bool ?? false
        try await store.write { fold in
            try fold.apply(events)
            try fold.db.setValue("cursor", cursor)
            if !more { try fold.dropConfirmedMarks(before: poll) }
        }
        show(events)
        try await history.repair()
        live.setStatus(more ? .behind : .live)
    }

    /// Events of presence are not kept. After a break the inbox says who is online.
    private func loadPresence() async throws {
        let page = try await connection.call(.sync.inbox(limit: 100).raw)
        live.readPresence((page["threads"]?.array ?? []).compactMap { $0["peer"] })
    }

    /// Loads the account and the whole inbox, and continues from the cursor of its first page.
    private func reload() async throws {
        // The cursor is read first. No event follows for a change that is older than the cursor.
        var cursor: String?
        let threads = try await connection.all("threads") {
            Call<InboxPage>.sync.inbox(limit: 200, page: $0).raw
        } first: {
            cursor = $0["cursor"]?.string
        }
        guard let cursor else { throw ParleyError.unreadableAnswer("the inbox has no cursor") }
        live.readPresence(threads.compactMap { $0["peer"] })
        let account = try await connection.call(.account.get().raw)
        let blocks = try await connection.all("blocks") { Call<BlockPage>.account.blocks(limit: 200, page: $0).raw }
        let stale = try await staleThreads(threads)
        let pages = try await shownPages(of: stale)
        try await store.write { fold in
            try fold.loadAccount(account, blocked: blocks.compactMap { $0["user"]?["id"]?.string })
            try fold.loadInbox(threads, stale: stale)
            for page in pages { try fold.loadMessages(page.thread, page: page.answer, after: page.after) }
            try fold.db.setValue("cursor", cursor)
            try fold.db.setValue("expired", nil)
        }
        // The whole inbox is there. The next poll brings what happened since, and does not wait.
        live.setStatus(.live)
    }

    /// The threads whose stored messages cannot be trusted. The expired cursor is asked again after the inbox: the first
    /// answer does not name threads that changed between it and the inbox.
    private func staleThreads(_ threads: [JSONValue]) async throws -> Set<String> {
        guard let expired = try await store.read({ try $0.value("expired") }) else { return [] }
        do {
            _ = try await connection.call(.sync.events(after: expired, wait: .zero, limit: 1))
            return Set(threads.compactMap { $0["id"]?.string })  // It was expired, and now it is not: nothing is sure.
        } catch let error as ParleyError where error.problem?.status == 410 {
            return Set((error.problem?.document["threads"]?.array ?? []).compactMap { $0["id"]?.string })
        }
    }

    /// The messages that open timelines show of these threads, so that none of them leaves the screen for a moment.
    private func shownPages(
        of threads: Set<String>
    ) async throws -> [(thread: String, after: Seq, answer: JSONValue)] {
        var pages: [(thread: String, after: Seq, answer: JSONValue)] = []
        for id in threads {
            var after = live.firstShown(in: id).map { $0 - 1 }
            // A longer window has a hole afterwards, and its timeline fills it.
            for _ in 0..<3 {
                guard let seq = after else { break }
                do {
                    let answer = try await connection.call(
                        .messages.list(in: ThreadID(id), after: .seq(seq), limit: 200).raw)
                    pages.append((id, seq, answer))
                    after = answer["end"]?.bool ?? true ? nil : answer["messages"]?.array?.last?["seq"]?.seq
                } catch let error as ParleyError where error.isGone {
                    break  // The inbox does not have the thread any more.
                }
            }
        }
        return pages
    }

    /// What is shown and not stored.
    private func show(_ events: [JSONValue]) {
        for event in events {
            guard let data = event["data"] else { continue }
            switch (event["type"]?.string, event["thread_id"]?.string) {
            case ("typing", let thread?):
                if let user = data["user_id"]?.string { live.setTyping(user, in: thread, true) }
            case ("presence.updated", _):
                live.readPresence([data])
            case ("message.created", let thread?):
                if let sender = data["sender"]?["id"]?.string { live.setTyping(sender, in: thread, false) }
            default: break
            }
        }
    }
}
