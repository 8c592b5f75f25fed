// GET /v1/admin/export: everything, or the part of an account, a thread or a time span, as an archive.
import Basics
import Domain
import Hummingbird
import Logging
import NIOCore
import Store
import Transfer

/// What exports need of the node besides the API's own parts.
package struct ExportServices: Sendable {
    /// Exports at once on a node: each holds a connection to the database.
    static let countMax = 2

    /// Makes a reader that has not begun.
    let open: @Sendable (ArchiveScope) -> ArchiveReader
    package let metrics: ExportMetrics
    fileprivate let slots = Slots<Int>(SlotLimits(slotCount: countMax, waitingCountMax: 0))

    package init(metrics: ExportMetrics, open: @escaping @Sendable (ArchiveScope) -> ArchiveReader) {
        self.metrics = metrics
        self.open = open
    }

    /// Returns a slot, which is free again when the object is released. Throws 503.
    fileprivate func begin() async throws -> TransferSlot {
        do {
            try await slots.enter(0)
        } catch is SlotRefusal {
            throw Problem(
                .overloaded,
                "This node is writing \(Self.countMax) exports already. Retry after the seconds in Retry-After.",
                retryAfterS: 30)
        }
        return TransferSlot { [slots] in slots.leave(0) }
    }
}

extension API {
    /// Empty unless an admin token is configured.
    var archiveExportRoutes: [Route] {
        guard adminGuard != nil, let exports else { return [] }
        return [
            Route(.get, "/v1/admin/export", .adminExport, query: .read, .admin { try await export($0, $1, exports) })
        ]
    }

    private func export(_ call: Call, _ actor: AdminActor, _ exports: ExportServices) async throws -> Answer {
        let scope = try ArchiveScope(call.query)
        let slot = try await exports.begin()
        let reader = exports.open(scope)
        // An error up to here is answered as a problem. A later one cuts off the answer.
        let snapshotAt = try await reader.begin()
        var answer = Answer(status: .ok, headers: Headers.of(type: "application/x-ndjson"))
        guard call.request.method == .get else { return answer }
        try await store.recordExport(scope, by: actor)
        let heading = scope.heading(at: snapshotAt)
        let (objects, metrics, logger) = (attachments.objects, exports.metrics, logger)
        answer.stream = { writer in
            defer { withExtendedLifetime(slot) {} }
            var archive = ArchiveWriter(reader, readObject: objects?.readForArchive)
            do {
                try await archive.run(heading: heading) { bytes in
                    try await writer.write(ByteBuffer(bytes: bytes))
                    metrics.byteCount.add(bytes.count)
                }
                try await writer.finish(nil)
                metrics.complete.add()
            } catch {
                metrics.broken.add()
                logger.warning(
                    "an export was cut off; the file has no line end, so export again",
                    metadata: ["request_id": "\(actor.requestID ?? "")", "reason": "\(error)"])
                throw error
            }
            await reader.close()
        }
        return answer
    }
}

extension ArchiveScope {
    /// Throws 422.
    init(_ query: Fields<String>) throws {
        var query = query
        let user = query.optional("user", UserID.self)
        let thread = query.optional("thread", ThreadID.self)
        let since = query.optional("since", Timestamp.self)
        let until = query.optional("until", Timestamp.self)
        if let since, let until, since > until { query.refuse("until", "Must not be before `since`.") }
        try query.end()
        self.init(user: user, thread: thread, since: since, until: until)
    }
}

extension ObjectAccess {
    /// Bytes of an object, none if there is no such object.
    package var readForArchive: ArchiveWriter.ReadObject {
        { key, range in try await read(key, range) ?? [] }
    }
}
