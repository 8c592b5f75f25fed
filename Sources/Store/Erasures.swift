// Erasing accounts, and reading all that is kept of one.
import Domain
import Postgres

extension Store {
    /// Erases an account; what is left to do is `sweepErasures`'s. Gives its sessions, which have ended. Throws
    /// `user_not_found`.
    /// - Parameter erasesMessages: what it has said goes, too.
    package func eraseAccount(_ user: UserID, erasesMessages: Bool) async throws -> [SessionID] {
        let row = try await row(
            Statement("account_erase", "select account_erase($1, $2)"), [.id(user), .bool(erasesMessages)])
        return try await decoded { try row.uuids(0).map { SessionID($0) } }
    }

    /// Does a part of what is left of erasures; false when nothing is. Several nodes may call this at the same time.
    /// - Parameter limit: messages that are withdrawn together, while their thread takes none.
    package func sweepErasures(limit: Int) async throws -> Bool {
        let row = try await row(
            Statement("erasure_sweep", "select erasure_sweep($1)"), [.int4(Int32(limit))])
        return try await decoded { try row.int4(0) > 0 }
    }
}

/// What is kept of an account, in the order in which it is given out.
package enum ExportPart: String, CaseIterable, Sendable {
    case sessions, blocks, threads, messages, reactions, read, delivered, hidden
}

/// A row of an export, and where it stands in its part: the rank is a seq, the id its thread's or the row's own.
package struct ExportRow: Sendable {
    package var line: JSONText
    package var key: PageKey
    /// A message that has earlier versions.
    package var isEdited: Bool
}

extension Store {
    package func exportAccount(_ user: UserID) async throws -> JSONText {
        try await reads.json(Statement("export_account", "select export_account($1)"), [.id(user)])
    }

    /// The rows of a part after a key, at most `limit` and about a mebibyte; none at its end.
    package func export(
        _ part: ExportPart, of user: UserID, after key: PageKey?, limit: Int
    ) async throws -> [ExportRow] {
        let rows = try await reads.rows(
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

    /// Earlier versions of a message of the user's after one of them, at most `limit`.
    package func exportVersions(
        of message: PageKey, by user: UserID, after version: Int32, limit: Int
    ) async throws -> [(line: JSONText, version: Int32)] {
        let rows = try await reads.rows(
            Statement("export_versions", "select * from export_versions($1, $2, $3, $4, $5)"),
            [.id(user), .uuid(message.id), .int8(message.rank), .int4(version), .int4(Int32(limit))])
        return try await decoded { try rows.map { (try $0.json(0), try $0.int4(1)) } }
    }
}
