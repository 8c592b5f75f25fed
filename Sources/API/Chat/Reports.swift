// Reports: people bring messages and people before the moderators, who work through the queue.
import Domain
import Store

struct ReportCalls: Sendable {
    let store: Store

    var routes: [Route] {
        let reports = "/v1/admin/reports"
        return [
            Route(.post, "/v1/reports", .createReport, body: .small, repeats: .kept, .signedIn(createReport)),
            Route(.get, reports, .adminListReports, query: .read, .admin(.moderation, listReports)),
            Route(
                .patch, reports + "/{report_id}", .adminUpdateReport, body: .small, .admin(.moderation, updateReport)),
        ]
    }

    private func createReport(_ call: Call, _ identity: Identity) async throws -> Answer {
        let draft = try await call.fields { fields in try ReportDraft(&fields) }
        let made = try await store.createReport(
            .make(), of: draft.subject, by: identity.user, reason: draft.reason.text, once: call.once)
        return .made(made.created, made.body)
    }

    private func listReports(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let (state, request) = try Self.reportQuery(call.query)
        return .list("reports", try await store.reports(in: state, request), limit: request.limit)
    }

    private static func reportQuery(_ query: Fields<String>) throws -> (ReportState?, PageRequest) {
        var query = query
        let request = query.pageRequest()
        let state = query.optional("state", ReportState.self)
        try query.end()
        return (state, request)
    }

    private func updateReport(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let report: ReportID = try call.id(of: "report", orElse: .reportNotFound)
        let state = try await call.fields { fields in
            let state = fields.required("state", ReportState.self)
            return try fields.values(state)
        }
        return .json(try await store.putReport(report, state, by: actor))
    }
}
