// Messages on their way: they are stored before `send` returns, and sent in order in each thread until the server has
// answered, whatever happens to the app and the network.
import Foundation

final class Outbox: Sendable {
    let store: ClientStore
    let connection: Connection
    let live: LiveState
    let files: OutboxFiles
    /// Threads with a message in flight, and messages whose send has begun.
    private let busy = Locked<(threads: Set<String>, messages: Set<String>)>(([], []))

    static let parallelThreadsMax = 4

    init(store: ClientStore, connection: Connection, live: LiveState, files: OutboxFiles) {
        self.store = store
        self.connection = connection
        self.live = live
        self.files = files
    }

    // MARK: For apps

    func add(
        _ content: MessageContent, _ attachments: [OutgoingFile], to thread: ThreadID, replyTo: MessageID?,
        mentions: [UserID], expiresIn: Duration?
    ) async throws -> OutgoingMessage {
        let id = MessageID.random()
        let body = MessageDraft(
            id: id, type: content.type, payload: content.payload, replyTo: replyTo, mentions: mentions,
            expiresIn: expiresIn
        ).json
        let copies = try await copy(attachments)
        defer { files.settle(copies) }
        do {
            let entry = try await store.write { fold in
                guard try fold.db.value("user_id") != nil else { throw ParleyError.signedOut }
                try fold.queue(id, in: thread, body: body, files: copies)
                return try OutboxEntry.one(id.rawValue, fold.db)
            }
            guard let entry else { throw ParleyError.notInOutbox(id) }
            return OutgoingMessage(entry, outbox: self)
        } catch {
            files.remove(copies)
            throw error
        }
    }

    func states(of id: MessageID, in thread: ThreadID) -> LiveValue<OutgoingState> {
        LiveValue(hub: store.changes) {
            $0.all || $0.outbox || $0.timelines.contains(thread.rawValue)
        } fetch: {
            [self] in
            let (entry, seq) = try await store.read { db in
                (
                    try OutboxEntry.one(id.rawValue, db),
                    try db.seq("select seq from message where id = ?", [id.rawValue])
                )
            }
            if let seq { return .sent(seq) }
            return entry.map { state(of: $0) } ?? .cancelled
        }
    }

    func state(of entry: OutboxEntry) -> OutgoingState {
        if entry.state == .pending { return .pending }
        if entry.state == .failed { return .failed(entry.failure?.error ?? .noAnswer("unknown")) }
        if busy.withLock({ $0.messages.contains(entry.id.rawValue) }) { return .sending }
        return live.progress(of: entry.id).map { .uploading($0) } ?? .queued
    }

    func list(_ thread: ThreadID?) -> LiveList<OutgoingMessage> {
        LiveList(hub: store.changes) {
            $0.all || $0.outbox
        } fetch: { [self] _ in
            let entries = try await store.read { db in
                try thread.map { try OutboxEntry.of($0.rawValue, db) } ?? OutboxEntry.all(db)
            }
            return entries.map { OutgoingMessage($0, outbox: self) }
        }
    }

    func retry(_ id: MessageID) async throws {
        try await store.write { try $0.setState(.queued, of: id) }
        store.changes.publish(Changes(retry: true))
    }

    func cancel(_ id: MessageID) async throws -> Bool {
        let removed = try await store.write { [self] fold -> OutboxEntry? in
            // Checked inside the transaction: the worker marks a message before it is sent.
            if busy.withLock({ $0.messages.contains(id.rawValue) }) { return nil }
            return try fold.removeUnsent(id)
        }
        if let removed { files.remove(removed.files) }
        return removed != nil
    }

    // MARK: The worker

    /// Sends messages as they come, until the task is cancelled. Throws `refused` with status 401.
    func run() async throws {
        let listener = store.changes.listen { $0.all || $0.outbox }
        try await files.removeUnneeded {
            Set(try await store.read { try OutboxEntry.all($0) }.flatMap { $0.files.compactMap(\.copy) })
        }
        busy.withLock { $0 = ([], []) }
        try await withThrowingDiscardingTaskGroup { group in
            repeat {
                for entry in try await store.read({ try OutboxEntry.next($0) }) {
                    let isFree = busy.withLock { busy in
                        busy.threads.count < Self.parallelThreadsMax
                            && busy.threads.insert(entry.threadID.rawValue).inserted
                    }
                    guard isFree else { continue }
                    group.addTask { [self] in
                        defer {
                            busy.withLock { _ = $0.threads.remove(entry.threadID.rawValue) }
                            live.setProgress(nil, of: entry.id, in: entry.threadID)
                            listener.signal.set()
                        }
                        try await deliver(entry.id)
                    }
                }
                // The first message to meet an ended session, or a closed store, ends the others.
            } while await listener.signal.wait() && !group.isCancelled
        }
        throw CancellationError()
    }

    /// Tries until the server has answered.
    private func deliver(_ id: MessageID) async throws {
        var backoff = Backoff()
        var hasLostFiles = false
        while let entry = try await store.read({ try OutboxEntry.one(id.rawValue, $0) }), entry.state == .queued {
            do {
                return try await send(try await upload(entry))
            } catch let error as ParleyError where error.concernsFiles && !hasLostFiles && entry.hasCopies {
                // The server deletes files that no message uses for a day: they are uploaded once more.
                hasLostFiles = true
                try await store.write { try $0.setFiles(entry.files.map(\.notUploaded), of: entry) }
            } catch let error as ParleyError where error.isTemporary {
                await store.changes.pause(backoff.failed(error))
                try Task.checkCancellation()
            } catch let error as ParleyError where error.endsSession || error.kind == .closed {
                throw error
            } catch let error as ParleyError {
                try await store.write { fold in
                    guard try OutboxEntry.one(id.rawValue, fold.db) != nil else { return }
                    try fold.setState(.failed, failure: .init(error), of: id)
                }
                return
            }
        }
    }

    private func send(_ entry: OutboxEntry) async throws {
        let isThere = try await store.write { [self] fold in
            guard try OutboxEntry.one(entry.id.rawValue, fold.db) != nil else { return false }
            busy.withLock { _ = $0.messages.insert(entry.id.rawValue) }
            return true
        }
        guard isThere else { return }
        live.setProgress(nil, of: entry.id, in: entry.threadID)
        defer { busy.withLock { _ = $0.messages.remove(entry.id.rawValue) } }
        var body = entry.body
        if !entry.files.isEmpty {
            body["payload"]?["attachments"] = .array(entry.files.map { ["id": .string($0.id.rawValue)] })
        }
        let thread = entry.threadID.rawValue
        let isStored = try await store.flight { [connection, body] in
            try await connection.call(Call<JSONValue>("POST", "v1", "threads", thread, "messages", body: body))
        } store: { fold, message, touches in
            if message["state"] == "pending" {
                try fold.markPending(entry.id)
                return false
            }
            try fold.removeSent(entry.id.rawValue, in: thread)
            try fold.store(message, in: thread, unless: touches)
            return true
        }
        if isStored { files.remove(entry.files) }
    }

    /// Uploads the files that the server does not have yet. A part that arrived before a break is not sent again.
    private func upload(_ entry: OutboxEntry) async throws -> OutboxEntry {
        var entry = entry
        let total = Double(max(1, entry.files.reduce(0) { $0 + $1.size }))
        for index in entry.files.indices where !entry.files[index].isUploaded {
            let file = entry.files[index]
            guard let copy = file.copy else { continue }
            let before = Double(entry.files[..<index].reduce(0) { $0 + $1.size })
            let (id, thread) = (entry.id, entry.threadID)
            _ = try await AttachmentUpload(
                id: file.id, source: .file(files.url(copy)), name: file.name, contentType: file.contentType
            ).run(with: connection) { [live] part in
                live.setProgress((before + part * Double(file.size)) / total, of: id, in: thread)
            }
            entry.files[index].isUploaded = true
            try await store.write { [entry] in try $0.setFiles(entry.files, of: entry) }
        }
        return entry
    }

    /// Files are copied where they block no task.
    private func copy(_ attachments: [OutgoingFile]) async throws -> [OutboxEntry.File] {
        guard !attachments.isEmpty else { return [] }
        return try await Task.detached(priority: .userInitiated) { [files] in
            var copies: [OutboxEntry.File] = []
            do {
                for attachment in attachments { copies.append(try files.add(attachment)) }
            } catch {
                files.remove(copies)
                throw error
            }
            return copies
        }.value
    }
}

extension ParleyError {
    /// The server does not have the files of a message, or not yet.
    fileprivate var concernsFiles: Bool {
        guard let problem else { return false }
        return problem.code == .attachmentNotReady
            || problem.status == 422 && problem.errors.contains { $0.field.hasPrefix("payload.attachments") }
    }
}

extension OutboxEntry {
    fileprivate var hasCopies: Bool { files.contains { $0.copy != nil } }
}

extension OutboxEntry.File {
    fileprivate var notUploaded: Self {
        var file = self
        file.isUploaded = copy == nil
        return file
    }
}
