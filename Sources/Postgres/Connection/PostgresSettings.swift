// Where the database is and which limits its clients keep. Reading configuration lives above; connecting in `Dial`.

import CLibpq

/// How to reach the database, and every limit of the pool and the listener. Printing it never shows the password.
package struct PostgresSettings: Sendable {
    /// A libpq connection string: a URL or key words. What it doesn't say, libpq takes from `PG…` in the environment.
    package let conninfo: String
    /// What `pg_stat_activity` shows, unless the connection string names another.
    package let applicationName: String

    package var connectionCountMax = 4
    /// Statements under way on one connection (they run one after another there).
    package var inFlightPerConnectionMax = 64
    /// Statements waiting for a connection; past it `query` throws `poolFull`.
    package var waitingCountMax = 10_000
    /// How long a statement waits to be sent; past it `query` throws `waitTimedOut` or `unavailable`.
    package var waitMax: Duration = .seconds(5)
    package var connectTimeout: Duration = .seconds(5)
    /// For PostgreSQL's settings of the same names; zero switches one off.
    package var lockTimeout: Duration = .seconds(5)
    package var statementTimeout: Duration = .seconds(15)
    package var idleInTransactionSessionTimeout: Duration = .seconds(10)
    /// Every transaction is read-only: a statement that writes or locks rows fails with 25006. The pool connects to no
    /// server that refuses writes itself, because a pool that never writes would not notice an old primary.
    package var isReadOnly = false
    /// A connection without a sign of life for `statementTimeout` and this is given up: the server would have
    /// ended the statement by then. Not watched when `statementTimeout` is zero.
    package var stallGrace: Duration = .seconds(5)
    /// What is in flight at `shutdown` has this long to end.
    package var shutdownMax: Duration = .seconds(5)
    package var preparation = Preparation.auto

    /// Whether statements are prepared, or sent whole: parsed and planned at each use. Transaction poolers may not keep
    /// prepared ones (PgBouncer before 1.21, or with `max_prepared_statements = 0`).
    package enum Preparation: Sendable {
        /// Unless a pooler stands between.
        case auto
        case always
        case never
    }

    package init(conninfo: String, applicationName: String) {
        self.conninfo = conninfo
        self.applicationName = applicationName
    }
}

extension PostgresSettings: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Host, port, database and user; nothing else of the connection string.
    package var description: String {
        guard let options = PQconninfoParse(conninfo, nil) else { return "postgres(malformed connection string)" }
        defer { PQconninfoFree(options) }
        var parts: [String] = []
        var option = options
        while let keyword = option.pointee.keyword {
            let name = String(cString: keyword)
            if ["host", "hostaddr", "port", "dbname", "user"].contains(name), let value = option.pointee.val {
                parts.append("\(name)=\(String(cString: value))")
            }
            option += 1
        }
        return "postgres(\(parts.joined(separator: " ")))"
    }

    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["database": description]) }
}
