import Archives
// POST /v1/admin/import: an archive becomes threads, members and messages, all at once.
import Basics
import Domain
import HTTPTypes
import Logging
import NIOCore
import Store
import Transport

/// The call that reads archives.
package struct ImportCalls: Sendable {
    private let store: Store
    private let limits: Limits
    private let logger: Logger
    private let metrics: ImportMetrics
    /// A node reads one archive at a time, so that the memory for its parts is bounded.
    private let slots = CallSlots<Int>(
        SlotLimits(slotCount: 1, waitingCountMax: 0),
        full: Problem(
            .overloaded, "This node is busy with another import. Retry after the seconds in Retry-After.",
            retryAfterS: 30))

    package init(_ services: CallServices, metrics: ImportMetrics) {
        (store, limits, logger) = (services.store, services.limits, services.logger)
        self.metrics = metrics
    }

    package var routes: [Route] {
        [Route(.post, "/v1/admin/import", .adminImport, query: .read, body: .archive, .admin(.import, importArchive))]
    }

    private func importArchive(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        var query = call.query
        let isDryRun = query.optional("dry_run", Bool.self) ?? false
        try query.end()
        if let type = call.request.headers[.contentType], !ContentTypeHeader.isLines(type) {
            throw Problem(.unsupportedMediaType, "The body must be application/x-ndjson.")
        }
        let slot = try await slots.hold(0)
        defer { slot.leave() }
        let watch = ContinuousClock.now
        var outcome = ImportMetrics.Outcome.failed
        defer { metrics.record(outcome, after: .now - watch) }
        do {
            let report = try await report(call, isDryRun: isDryRun, by: actor)
            outcome = isDryRun ? .dryRun : .applied
            return .json(report)
        } catch ImportFailure.badLine(let line, let detail) {
            outcome = .refused
            return ProblemDocument.answer(
                Problem(.invalid, "Line \(line): \(detail)"), extra: [("line", JSONText(.integer(line)))])
        }
    }

    /// Stages the body, checks it and applies it. Whatever goes wrong, nothing of it stays.
    private func report(_ call: Call, isDryRun: Bool, by actor: AdminActor) async throws -> JSONText {
        let run = ImportRun(
            store: store, limits: limits, isDryRun: isDryRun, actor: actor, metrics: metrics)
        let place = try await store.beginImport()
        do {
            var body = call.request.pieces.makeAsyncIterator()
            try await run.stage(from: place) { try await Self.next(&body) }
            return try await run.finish(place.id)
        } catch {
            do {
                try await uncancelled { [store] in try await store.dropImport(place.id) }
            } catch let failure {
                logger.warning(
                    "deleting a failed import failed; it is deleted later", metadata: ["error": "\(failure)"])
            }
            throw error
        }
    }

    private static func next(_ body: inout RequestBody.AsyncIterator) async throws -> [UInt8]? {
        do {
            return try await body.next().map { Array($0.readableBytesView) }
        } catch let error as RequestBodyError {
            throw Problem.brokenArchive(error)
        }
    }
}

extension Problem {
    /// The archive did not arrive whole.
    fileprivate static func brokenArchive(_ reason: RequestBodyError) -> Problem {
        switch reason {
        case .tooSlow: Problem(.requestTimeout, "The archive arrived too slowly. Nothing of it was imported.")
        case .tooLarge: .bodyTooLarge
        case .stopping: .stopping
        case .clientGone, .malformed, .displaced, .answered:
            Problem(.malformedRequest, "The archive ended early. Nothing of it was imported. Send it again.")
        }
    }
}

extension ContentTypeHeader {
    /// Whether the type is that of archives: `application/x-ndjson`.
    fileprivate static func isLines(_ type: String) -> Bool {
        var parts = HeaderList(type[...].utf8, separator: ";", countMax: 1)
        return parts.next()?.equals(ignoringCase: "application/x-ndjson") ?? false
    }
}
