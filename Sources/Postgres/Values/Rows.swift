// The result of a statement, read in place from libpq. `Row` decodes single values.

import CLibpq

/// The rows of one result in order. Copies share one result, which is freed with the last of them, so a row that is
/// kept keeps the whole result in memory.
package struct Rows: Sendable, RandomAccessCollection {
    let result: ResultBox

    package var startIndex: Int { 0 }
    package var endIndex: Int { result.rowCount }

    package subscript(position: Int) -> Row {
        precondition(position >= 0 && position < result.rowCount, "no such row")
        return Row(result: result, index: position)
    }

    /// The server's command tag, such as `INSERT 0 1` or `COMMIT`.
    var commandTag: String {
        PQcmdStatus(result.pointer).map { String(cString: $0) } ?? ""
    }
}

/// Owns one `PGresult` and frees it exactly once.
// SAFETY: a result is complete when libpq returns it. After that it is only read, by functions that do not change it,
// and freed once, by `deinit`, when nothing refers to it any more.
final class ResultBox: @unchecked Sendable {
    let pointer: OpaquePointer
    let rowCount: Int
    let columnCount: Int
    /// A result keeps its connection's notice receiver. Keeping the receiver's target as well leaves no dangling
    /// pointer.
    private let notices: NoticeSink?

    init(_ pointer: OpaquePointer, notices: NoticeSink?) {
        self.pointer = pointer
        self.notices = notices
        rowCount = Int(PQntuples(pointer))
        columnCount = Int(PQnfields(pointer))
    }

    deinit { PQclear(pointer) }

    var status: ExecStatusType { PQresultStatus(pointer) }

    /// The server's error in this result, if any; libpq's own errors have no SQLSTATE.
    var serverError: ServerError? {
        guard let sqlState = field(parley_diag_sqlstate) else { return nil }
        return ServerError(
            sqlState: sqlState,
            message: field(parley_diag_message_primary) ?? "",
            detail: field(parley_diag_message_detail),
            hint: field(parley_diag_message_hint),
            constraint: field(parley_diag_constraint_name),
            position: field(parley_diag_statement_position).flatMap(Int.init))
    }

    /// The server's C function that raised the error. It distinguishes errors with the same SQLSTATE, in any language.
    var errorSource: String? { field(parley_diag_source_function) }

    private func field(_ code: Int32) -> String? {
        PQresultErrorField(pointer, code).map { String(cString: $0) }
    }
}
