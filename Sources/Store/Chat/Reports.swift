// Reports of messages and people to the moderators.
import Domain
import Postgres

extension Store {
    /// Reports a message or a person. Returns the report, and whether it is new: an open one about the same stays.
    /// Throws as reading the message does; `user_not_found`, `message_deleted`.
    package func createReport(
        _ report: ReportID, of subject: ReportSubject, by user: UserID, reason: String, once: IdempotentRequest? = nil
    ) async throws -> (created: Bool, body: JSONText) {
        let subject: [Parameter] =
            switch subject {
            case .message(let message, let thread): [.id(thread), .id(message), .null]
            case .user(let user): [.null, .null, .id(user)]
            }
        return try await create(
            Creation("report_create", column: "report", keepsExisting: true), once: once,
            [.id(report), .id(user)] + subject + [.text(reason)])
    }

    /// Returns a page of the reports in a state, or of all, the newest first.
    package func reports(in state: ReportState?, _ request: PageRequest) async throws -> Page {
        try await reads.page("report_list", [.text(orNull: state?.rawValue)], request)
    }

    /// Closes or reopens a report. Throws `report_not_found`.
    package func putReport(_ report: ReportID, _ state: ReportState, by actor: AdminActor) async throws -> JSONText {
        try await json("report_put", actor.parameters + [.id(report), .text(state.rawValue)])
    }

    /// Returns how many reports are open, counted up to `countMax`.
    package func openReportCount(countMax: Int) async throws -> Int {
        try await reads.value("report_count", [.int(countMax)]) { Int(try $0.int8(0)) }
    }
}
