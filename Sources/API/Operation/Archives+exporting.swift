import Archives
// GET /v1/admin/export: everything, or the part of an account, a thread or a time span, as an archive.
import Basics
import Domain
import Logging
import NIOCore
import Store
import Transport

/// What exports need of the node besides the API's own parts.
package struct ExportServices: Sendable {
    /// Exports at once on a node: each holds a connection to the database.
    package static let countMax = 2

    /// Makes a reader that has not begun.
    fileprivate let open: @Sendable (ArchiveScope) -> ArchiveReader
    package let metrics: ExportMetrics
    private let slots = Slots<Int>(SlotLimits(slotCount: countMax, waitingCountMax: 0))

    package init(metrics: ExportMetrics, open: @escaping @Sendable (ArchiveScope) -> ArchiveReader) {
        self.metrics = metrics
        self.open = open
    }

    /// Returns a slot, which is free again when the object is released. Throws 503.
    fileprivate func begin() async throws -> HeldSlot {
        do {
            return try await slots.hold(0)
        } catch is SlotRefusal {
            metrics.exports.add(.refused)
            throw Problem(
                .overloaded,
                "This node is writing \(Self.countMax) exports already. Retry after the seconds in Retry-After.",
                retryAfterS: 30)
        }
    }
}

extension API {
    /// Empty unless an admin token is configured.
    var exportArchiveRoutes: [Route] {
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
        let (heading, archive) = (scope.heading(at: snapshotAt), ArchiveWriter(reader, readObject: readObject))
        answer.stream = StreamedBody { writer in
            defer { withExtendedLifetime(slot) {} }
            do {
                try await Self.write(archive, heading, exports.metrics, to: writer)
            } catch {
                recordCut(error, actor, exports.metrics)
                throw error
            }
            await reader.close()
        }
        return answer
    }

    /// Reads the next lines when the client has received the last ones.
    private static func write(
        _ archive: ArchiveWriter, _ heading: [UInt8], _ metrics: ExportMetrics, to writer: BodyWriter
    ) async throws {
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
    private func recordCut(_ error: any Error, _ actor: AdminActor, _ metrics: ExportMetrics) {
        metrics.exports.add(.cut)
        logger.warning(
            "an export was cut off before its last line; its file is incomplete",
            metadata: ["request": .string(actor.requestID ?? ""), "reason": "\(error)"])
    }

    private var readObject: ArchiveWriter.ReadObject? {
        guard let objects = attachments.objects else { return nil }
        return { key, range in try await objects.read(key, range) }
    }
}

extension ArchiveScope {
    /// Throws 422.
    fileprivate init(_ query: Fields<String>) throws {
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
