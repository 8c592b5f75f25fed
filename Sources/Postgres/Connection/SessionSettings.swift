// What every session has set: for its whole life or, behind a pooler, anew in each transaction.

/// The time-outs and other settings that statements here rely on, as SQL.
struct SessionSettings {
    private let values: [(name: String, value: String)]
    /// Of no use within a transaction.
    private let ofSession: [(name: String, value: String)]
    private let isReadOnly: Bool

    init(_ settings: PostgresSettings) {
        values = [
            ("lock_timeout", "\(settings.lockTimeout.wholeMilliseconds)"),
            ("statement_timeout", "\(settings.statementTimeout.wholeMilliseconds)"),
            ("idle_in_transaction_session_timeout", "\(settings.idleInTransactionSessionTimeout.wholeMilliseconds)"),
            ("TimeZone", "UTC"),
            // Statements here are short: compiling one costs more than it can save.
            ("jit", "off"),
            // And they find rows by indexes. To a plan made while a table is empty, reading it from end to end seems to cost
            // nothing, and such plans are kept until the table is next analysed.
            ("enable_seqscan", "off"),
        ]
        ofSession = [
            // Functions that take a lock and then look must see what the lock's last holder committed, whatever the
            // database's default is.
            ("default_transaction_isolation", "read committed"),
            // The server's side of `Dial`'s: a session whose client's host has vanished ends within a minute, and lets
            // go of its locks. TCP only; elsewhere they say nothing.
            ("tcp_keepalives_idle", "30"), ("tcp_keepalives_interval", "10"), ("tcp_keepalives_count", "3"),
            ("tcp_user_timeout", "30000"),
        ]
        isReadOnly = settings.isReadOnly
    }

    /// Sets the session up, given the server process (`$1::int4`) that was named at the start. Answers with whether
    /// another one runs this, so that a pooler stands between, the isolation that transactions begin with, and whether
    /// the server takes no writes. Behind a pooler nothing is left set: the session is others', too.
    var setUp: String {
        let readOnly = isReadOnly ? [(name: "default_transaction_read_only", value: "on")] : []
        let calls = (values + ofSession + readOnly).map {
            "set_config('\($0.name)', '\($0.value)', pg_backend_pid() <> $1::int4)"
        }
        return """
            select pg_backend_pid() <> $1::int4, current_setting('transaction_isolation'), \
            current_setting('transaction_read_only')::bool, \
            \(calls.joined(separator: ", "))
            """
    }

    /// Sets the transaction up that it runs in.
    var setUpTransaction: String {
        let readOnly = isReadOnly ? [(name: "transaction_read_only", value: "on")] : []
        let calls = (values + readOnly).map { "set_config('\($0.name)', '\($0.value)', true)" }
        return "select " + calls.joined(separator: ", ")
    }
}
