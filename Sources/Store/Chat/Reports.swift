// Reports of messages and people to the moderators.
import Domain
import Postgres

extension Store {
    /// Reports a message or a person. Returns the report, and whether it is new: an open one about the same stays.
    /// Throws as reading the message does; `user_not_found`, `message_deleted`.
    package func createReport(
        _ report: ReportID, of subject: ReportSubject, by user: UserID, reason: String
    ) async throws -> (report: JSONText, created: Bool) {
        let subject: [Parameter] =
            switch subject {
            case .message(let message, let thread): [.id(thread), .id(message), .null]
            case .user(let user): [.null, .null, .id(user)]
            }
        let row = try await row(
            Statement("report_create", "select * from report_create($1, $2, $3, $4, $5, $6)"),
            [.id(report), .id(user)] + subject + [.text(reason)])
        return try await decoded { (try row.json(0), try row.bool(1)) }
    }

    /// Returns a page of the reports in a state, or of all, the newest first.
    package func reports(in state: ReportState?, _ request: PageRequest) async throws -> Page {
        try await reads.page(
            Statement("report_list", "select * from report_list($1, $2, $3, $4)"), [.text(orNull: state?.rawValue)],
            request)
    }

    /// Closes or reopens a report. Throws `report_not_found`.
    package func putReport(_ report: ReportID, _ state: ReportState, by actor: AdminActor) async throws -> JSONText {
        try await json(
            Statement("report_put", "select report_put($1, $2, $3, $4)"),
            actor.parameters + [.id(report), .text(state.rawValue)])
    }

    /// Returns how many reports are open, counted up to `countMax`.
    package func openReportCount(countMax: Int) async throws -> Int {
        let row = try await reads.row(Statement("report_count", "select report_count($1)"), [.int4(Int32(countMax))])
        return try await decoded { Int(try row.int8(0)) }
    }
}
