// What a statement gave back, read in place from libpq's result. Decoding of single values lives in `Row`.

import CLibpq

/// The rows of one result, in the order of the statement; none for a statement that returns none. Copies share one
/// result, which is freed with the last of them, so a row that is kept keeps all its neighbours in memory.
package struct Rows: Sendable, RandomAccessCollection {
    let result: ResultBox

    package var startIndex: Int { 0 }
    package var endIndex: Int { result.rowCount }

    package subscript(position: Int) -> Row {
        precondition(position >= 0 && position < result.rowCount, "no such row")
        return Row(result: result, index: position)
    }

    /// Rows inserted, updated, deleted or selected; 0 for other commands.
    package var affectedRowCount: Int {
        PQcmdTuples(result.pointer).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// The server's word for what it did, such as `INSERT 0 1` or `COMMIT`.
    var commandTag: String {
        PQcmdStatus(result.pointer).map { String(cString: $0) } ?? ""
    }
}

/// Owns one `PGresult` and frees it exactly once.
// SAFETY: a result is complete when libpq hands it over; from then on it is only read, by functions that change
// nothing in it, and freed once, by `deinit`, when nobody refers to it any more.
final class ResultBox: @unchecked Sendable {
    let pointer: OpaquePointer
    let rowCount: Int
    let columnCount: Int
    /// A result keeps its connection's notice receiver; keeping its target too leaves no dangling pointer.
    private let notices: NoticeSink?

    init(_ pointer: OpaquePointer, notices: NoticeSink?) {
        self.pointer = pointer
        self.notices = notices
        rowCount = Int(PQntuples(pointer))
        columnCount = Int(PQnfields(pointer))
    }

    deinit { PQclear(pointer) }

    var status: ExecStatusType { PQresultStatus(pointer) }

    /// The error this result holds, if it is one the server sent; libpq's own errors have no SQLSTATE.
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

    /// The server's C function that raised the error: tells apart errors that share a SQLSTATE, in any language.
    var errorSource: String? { field(parley_diag_source_function) }

    private func field(_ code: Int32) -> String? {
        PQresultErrorField(pointer, code).map { String(cString: $0) }
    }
}
