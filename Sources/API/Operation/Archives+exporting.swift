import Archives
// GET /v1/admin/export: everything, or the part of an account, a thread or a time span, as an archive.
import Basics
import Domain
import Logging
import NIOCore
import Store
import Transport

/// The call that writes archives.
package struct ExportCalls: Sendable {
    /// Exports at once on a node: each holds a connection to the database.
    private static let countMax = 2

    private let store: Store
    private let logger: Logger
    private let objects: (any ObjectAccess)?
    private let open: @Sendable (ArchiveScope) -> ArchiveReader
    package let metrics = ExportMetrics()
    private let slots = CallSlots<Int>(
        SlotLimits(slotCount: countMax, waitingCountMax: 0),
        full: Problem(
            .overloaded, "This node is writing \(countMax) exports already. Retry after the seconds in Retry-After.",
            retryAfterS: 30))

    /// - Parameters:
    ///   - objects: nil if all bytes of attachments are in the database.
    ///   - open: makes a reader that has not begun.
    package init(
        _ services: CallServices, objects: (any ObjectAccess)?,
        open: @escaping @Sendable (ArchiveScope) -> ArchiveReader
    ) {
        (store, logger) = (services.store, services.logger)
        (self.objects, self.open) = (objects, open)
    }

    package var routes: [Route] {
        [Route(.get, "/v1/admin/export", .adminExport, query: .read, .admin(.export, export))]
    }

    /// Returns a slot, which is free again when the object is released. Throws 503.
    private func begin() async throws -> HeldSlot {
        do {
            return try await slots.hold(0)
        } catch let problem as Problem {
            metrics.exports.add(.refused)
            throw problem
        }
    }

    private func export(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let scope = try await ArchiveFilters(call.query).scope(store)
        let slot = try await begin()
        let reader = open(scope)
        // An error up to here is answered as a problem. A later one cuts off the answer.
        let snapshotAt = try await reader.begin()
        var answer = Answer(status: .ok, headers: Headers.of(type: "application/x-ndjson"))
        guard call.request.method == .get else { return answer }
        try await store.recordExport(scope, by: actor)
        let (heading, archive) = (scope.heading(at: snapshotAt), ArchiveWriter(reader, readObject: readObject))
        answer.stream = StreamedBody { writer in
            defer { withExtendedLifetime(slot) {} }
            do {
                try await write(archive, heading, to: writer)
            } catch {
                recordCut(error, actor)
                throw error
            }
            await reader.close()
        }
        return answer
    }

    /// Reads the next lines when the client has received the last ones.
    private func write(_ archive: ArchiveWriter, _ heading: [UInt8], to writer: BodyWriter) async throws {
        var archive = archive
        try await archive.run(heading: heading) { bytes, lineCount in
            try await writer.write(ByteBuffer(bytes: bytes))
            metrics.lineCount.add(lineCount)
            metrics.byteCount.add(bytes.count)
        }
        writer.finish()
        metrics.exports.add(.complete)
    }

    /// The client sees that the connection is closed before the end of the answer.
    private func recordCut(_ error: any Error, _ actor: AdminActor) {
        metrics.exports.add(.cut)
        logger.warning(
            "an export was cut off before its last line; its file is incomplete",
            metadata: ["request": .string(actor.requestID ?? ""), "reason": "\(error)"])
    }

    private var readObject: ArchiveWriter.ReadObject? {
        guard let objects else { return nil }
        return { key, range in try await objects.read(key, range) }
    }
}

/// The filters of a query.
private struct ArchiveFilters: Sendable {
    let user: UserReference?
    let thread: ThreadReference?
    let since: Timestamp?
    let until: Timestamp?

    /// Throws 422.
    init(_ query: Fields<String>) throws {
        var query = query
        user = query.optional("user", UserReference.self)
        thread = query.optional("thread", ThreadReference.self)
        since = query.optional("since", Timestamp.self)
        until = query.optional("until", Timestamp.self)
        if let since, let until, since > until { query.refuse("until", "Must not be before `since`.") }
        try query.end()
    }

    /// Throws 422 for an external id that nobody has.
    func scope(_ store: Store) async throws -> ArchiveScope {
        var scope = ArchiveScope(since: since, until: until)
        if let user { scope.user = try await store.id(of: user, in: "user") }
        if let thread { scope.thread = try await store.id(of: thread, in: "thread") }
        return scope
    }
}
