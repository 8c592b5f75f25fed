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
        gauge("parley_database_connections", "Open connections, by pool (docs/architecture.md).", \.connectionCount)
        gauge("parley_database_connecting", "Connections being opened.", \.connectingCount)
        gauge("parley_database_in_flight", "Statements sent and not yet answered.", \.inFlightCount)
        gauge("parley_database_waiting", "Statements waiting for a connection.", \.waitingCount)
        counter("parley_database_statements_total", "Statements accepted.", \.statementCount)
        let kinds: [(name: String, metric: (PoolStatistics.Totals) -> Int)] = [
            ("server", \.serverErrorCount), ("timeout", \.timeoutCount), ("full", \.poolFullCount),
            ("waited", \.waitTimeoutCount),
        ]
        text.counter(
            "parley_database_errors_total",
            "Statements that failed, by kind. `timeout`: PostgreSQL cancelled the statement after its statement_timeout.",
            pools.flatMap { pool in
                kinds.map { kind in
                    (
                        labels: pool.labels + [(name: "kind", value: kind.name)],
                        value: kind.metric(pool.statistics.totals)
                    )
                }
            })
        counter("parley_database_connects_total", "Connections opened.", \.connectCount)
        counter("parley_database_connect_failures_total", "Attempts to connect that failed.", \.connectFailureCount)
        counter("parley_database_connections_lost_total", "Connections that broke.", \.lostCount)
        counter("parley_database_retries_total", "Statements retried on another connection.", \.retryCount)
    }
}
