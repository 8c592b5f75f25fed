// The metrics of the database connections, by pool.
import Postgres
import Store
import Telemetry

extension DatabasePools {
    @Sendable func writeMetrics(to text: inout MetricsText) {
        let pools = named.map { pool in
            (labels: [(name: "pool", value: pool.name)] as MetricsText.Labels, statistics: pool.client.statistics)
        }
        func gauge(_ name: StaticString, _ help: String, _ metric: (PoolStatistics) -> Int) {
            text.gauge(name, help, pools.map { ($0.labels, Double(metric($0.statistics))) })
        }
        func counter(_ name: StaticString, _ help: String, _ metric: (PoolStatistics.Totals) -> Int) {
            text.counter(name, help, pools.map { ($0.labels, metric($0.statistics.totals)) })
        }
        gauge(
            "parley_database_connections",
            "Open connections, by `pool` (docs/architecture.md): log, changes, reads, file_writes, file_reads, "
                + "imports, and with a replica replica and replica_watch.",
            \.connectionCount)
        gauge("parley_database_connecting", "Connections being opened, by `pool`.", \.connectingCount)
        gauge("parley_database_in_flight", "Statements in progress, by `pool`.", \.inFlightCount)
        gauge("parley_database_waiting", "Statements waiting for a connection, by `pool`.", \.waitingCount)
        counter("parley_database_statements_total", "Statements accepted, by `pool`.", \.statementCount)
        let kinds: [(name: String, metric: (PoolStatistics.Totals) -> Int)] = [
            ("server", \.serverErrorCount), ("timeout", \.timeoutCount), ("full", \.poolFullCount),
            ("waited", \.waitTimeoutCount),
        ]
        text.counter(
            "parley_database_errors_total",
            "Failed statements, by `pool` and `kind`: server, timeout (cancelled after its `statement_timeout`), full (queue "
                + "full), waited (no connection in time).",
            pools.flatMap { pool in
                kinds.map { kind in
                    (
                        labels: pool.labels + [(name: "kind", value: kind.name)],
                        value: kind.metric(pool.statistics.totals)
                    )
                }
            })
        counter("parley_database_connects_total", "Connections opened, by `pool`.", \.connectCount)
        counter(
            "parley_database_connect_failures_total", "Attempts to connect that failed, by `pool`.",
            \.connectFailureCount)
        counter("parley_database_connections_lost_total", "Connections that broke, by `pool`.", \.lostCount)
        counter(
            "parley_database_retries_total", "Statements sent again after their connection broke, by `pool`.",
            \.retryCount)
    }
}
