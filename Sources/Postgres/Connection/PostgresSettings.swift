// Where the database is, and the limits of its clients. Connecting is in `Dial`; the configuration is read above.

import CLibpq

/// How to reach the database, and every limit of the pool and the listener. Printing it never shows the password.
package struct PostgresSettings: Sendable {
    /// A libpq connection string: a URL or keywords. libpq reads missing values from `PG…` in the environment.
    package let conninfo: String
    /// The name in `pg_stat_activity`, unless the connection string has another.
    package let applicationName: String

    package var connectionCountMax = 4
    /// Statements in flight on one connection (the server runs them one after another).
    package var inFlightPerConnectionMax = 64
    /// Statements that may wait for a connection; beyond it `query` throws `poolFull`.
    package var waitingCountMax = 10_000
    /// How long a statement waits to be sent; after it `query` throws `waitTimedOut` or `unavailable`.
    package var waitMax: Duration = .seconds(5)
    package var connectTimeout: Duration = .seconds(5)
    /// PostgreSQL's settings of the same names; zero switches one off.
    package var lockTimeout: Duration = .seconds(5)
    package var statementTimeout: Duration = .seconds(15)
    package var idleInTransactionSessionTimeout: Duration = .seconds(10)
    /// Every transaction is read-only: a statement that writes or locks rows fails with 25006. The pool connects to no
    /// server that refuses writes itself, because a pool that never writes would not notice an old primary.
    package var isReadOnly = false
    /// A read-only pool connects to a standby, too. Its statements must check what the standby has replayed.
    package var acceptsStandby = false
    /// A connection that receives nothing for `statementTimeout` plus this is dropped: the server would have ended the
    /// statement by then. Not checked when `statementTimeout` is zero.
    package var stallGrace: Duration = .seconds(5)
    /// The time that statements in flight have at `shutdown`.
    package var shutdownMax: Duration = .seconds(5)
    package var preparation = Preparation.auto

    /// Whether statements are prepared, or parsed and planned at each use. Transaction poolers may not keep prepared
    /// statements (PgBouncer before 1.21, or with `max_prepared_statements = 0`).
    package enum Preparation: Sendable {
        /// Prepared, unless there is a pooler.
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
