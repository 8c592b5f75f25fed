// The settings of every session: for its whole life or, behind a pooler, again in each transaction.

/// The timeouts and other settings that statements here rely on, as SQL.
package struct SessionSettings {
    private var values: [(name: String, value: String)]
    /// The schema `parley` is for other programs, which write to its outbox. PostgreSQL searches it first if the user's
    /// name is `parley` too. Then a table of Parley's could be made there, or be hidden by one of the same name. So the
    /// search path is what it resolves to, without that schema, as soon as Parley's tables are in another one.
    private static let searchPath = """
        (select coalesce(string_agg(quote_ident(s.name), ', ' order by s.place) filter \
        (where n.nspname is null or s.name <> 'parley' or n.nspname = 'parley'), current_setting('search_path')) \
        from unnest(current_schemas(false)) with ordinality s (name, place) \
        left join pg_class c on c.oid = to_regclass('schema_migrations') \
        left join pg_namespace n on n.oid = c.relnamespace)
        """
    /// For the migrator: also searches temporary tables last, as functions with the rights of their owner need it.
    /// Functions that say `set search_path from current` keep it.
    static let searchPathForFunctions = """
        set_config('search_path', concat_ws(', ', nullif(\(searchPath), ''), 'pg_temp'), true)
        """

    /// Planner settings that are off. Statements here find rows by indexes, and join a few rows to an index. A plan made
    /// while a table is empty would prefer to read and to hash or sort the whole table, and a session keeps its plans.
    /// Statements are short, so that compiling one costs more than it can save.
    package static let planner = ["enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"]

    /// Has no effect within a transaction.
    private let ofSession: [(name: String, value: String)]
    private let isReadOnly: Bool

    init(_ settings: PostgresSettings) {
        values = [
            ("lock_timeout", "\(settings.lockTimeout.wholeMilliseconds)"),
            ("statement_timeout", "\(settings.statementTimeout.wholeMilliseconds)"),
            ("idle_in_transaction_session_timeout", "\(settings.idleInTransactionSessionTimeout.wholeMilliseconds)"),
            ("TimeZone", "UTC"),
        ]
        values += Self.planner.map { ($0, "off") }
        ofSession = [
            // Functions that take a lock and then read must see what the lock's last holder committed, whatever the
            // database's default is.
            ("default_transaction_isolation", "read committed"),
            // The server's counterpart of `Dial`'s settings: if the client's host vanishes, the session ends within a
            // minute and releases its locks. TCP only; otherwise they have no effect.
            ("tcp_keepalives_idle", "30"), ("tcp_keepalives_interval", "10"), ("tcp_keepalives_count", "3"),
            ("tcp_user_timeout", "30000"),
        ]
        isReadOnly = settings.isReadOnly
    }

    /// Sets the session up, given the server process (`$1::int4`) that was announced at the start. Returns whether
    /// another process runs this, so that there is a pooler; the default isolation; and whether the server is
    /// read-only. Behind a pooler nothing stays set, because other clients use the session as well.
    var setUp: String {
        let readOnly = isReadOnly ? [(name: "default_transaction_read_only", value: "on")] : []
        let calls = (values + ofSession + readOnly).map {
            "set_config('\($0.name)', '\($0.value)', pg_backend_pid() <> $1::int4)"
        }
        return """
            select pg_backend_pid() <> $1::int4, current_setting('transaction_isolation'), \
            current_setting('transaction_read_only')::bool, \
            set_config('search_path', \(Self.searchPath), pg_backend_pid() <> $1::int4), \
            \(calls.joined(separator: ", "))
            """
    }

    /// Sets up the transaction that it runs in.
    var setUpTransaction: String {
        let readOnly = isReadOnly ? [(name: "transaction_read_only", value: "on")] : []
        let calls = (values + readOnly).map { "set_config('\($0.name)', '\($0.value)', true)" }
        return "select set_config('search_path', \(Self.searchPath), true), " + calls.joined(separator: ", ")
    }
}
