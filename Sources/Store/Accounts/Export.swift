// Exporting all stored data of an account.
import Domain
import Postgres

/// The parts of an export, in their order.
package enum ExportPart: String, CaseIterable, Sendable {
    case sessions, blocks, attachments, reports, reviews, threads, messages, reactions, read, delivered, hidden
}

/// A row of an export, with its key in its part: the rank is a seq, the id the thread's or the row's own.
package struct ExportRow: Sendable {
    package var line: JSONText
    package var key: PageKey
    /// Whether it is a message with earlier versions.
    package var isEdited: Bool
}

extension Store {
    package func exportAccount(_ user: UserID) async throws -> JSONText {
        try await replica.json(Statement("export_account", "select export_account($1)"), [.id(user)])
    }

    /// Returns the rows of a part after a key, at most `limit` and about 1 MiB; none at its end.
    package func export(
        _ part: ExportPart, of user: UserID, after key: PageKey?, limit: Int
    ) async throws -> [ExportRow] {
        let rows = try await replica.rows(
            Statement("export_page", "select * from export_page($1, $2, $3, $4, $5)"),
            [
                .id(user), .text(part.rawValue), .uuid(orNull: key?.id), .int8(orNull: key?.rank), .int4(Int32(limit)),
            ])
        return try await decoded {
            try rows.map {
                ExportRow(
                    line: try $0.json(0), key: PageKey(rank: try $0.int8(2), id: try $0.uuid(1)),
                    isEdited: try $0.bool(3))
            }
        }
    }

    /// Returns earlier versions of a message of the user, after one of them, at most `limit`.
    package func exportVersions(
        of message: PageKey, by user: UserID, after version: Int32, limit: Int
    ) async throws -> [(line: JSONText, version: Int32)] {
        let rows = try await replica.rows(
            Statement("export_versions", "select * from export_versions($1, $2, $3, $4, $5)"),
            [.id(user), .uuid(message.id), .int8(message.rank), .int4(version), .int4(Int32(limit))])
        return try await decoded { try rows.map { (try $0.json(0), try $0.int4(1)) } }
    }
}
