// What /metrics shows of a node: every figure by its name, gathered from the parts that count.
import API
import Log
import Postgres
import ServiceConfiguration
import Store
import Telemetry
import Transport

extension Node {
    /// Reads /proc, among others: for milliseconds it may block.
    func metrics() -> MetricsText {
        var text = MetricsText()
        text.gauge("parley_build_info", "What is running.", [([("version", Invocation.version)], 1)])
        requests.write(to: &text)
        if let statistics = server.value?.statistics { write(statistics, to: &text) }
        writeBatches(to: &text)
        writeTail(to: &text)
        writePolls(to: &text)
        streams.write(to: &text)
        searchMetrics.write(to: &text)
        retentionMetrics.write(to: &text)
        mailMetrics.write(to: &text)
        pushMetrics.write(to: &text)
        sessionMetrics.write(to: &text)
        erasureMetrics.write(to: &text)
        announcementMetrics.write(to: &text)
        pushMakerMetrics.write(to: &text)
        rates.write(to: &text)
        accountReads.write(to: &text)
        signIns.write(to: &text)
        writeHasher(to: &text)
        writePools(to: &text)
        ProcessMetrics.read()?.write(to: &text)
        return text
    }

    private func write(_ http: HTTPServer.Statistics, to text: inout MetricsText) {
        text.gauge("parley_http_connections", "Open connections of clients.", http.connectionsOpen)
        text.counter("parley_http_connections_total", "Connections that clients opened.", http.connectionsTotal)
        text.counter(
            "parley_http_connections_refused_total", "Those above the limit of open ones.", http.connectionsRefused)
        text.counter(
            "parley_http_connections_displaced_total", "Idle connections closed to make room for new ones.",
            http.connectionsDisplaced)
        text.gauge(
            "parley_http_body_bytes", "Bytes of request bodies held; small requests are not counted.", http.bodyBytes)
        text.counter(
            "parley_http_bodies_refused_total", "Requests refused because all bodies together took too much memory.",
            http.bodiesRefused)
        text.counter(
            "parley_http_clients_gone_total", "Clients that went away before their answer was whole.", http.clientsGone)
        text.counter("parley_http_timeouts_total", "Connections that ran into a time-out.", http.timeouts)
    }

    private func writeBatches(to text: inout MetricsText) {
        let streams: [(labels: MetricsText.Labels, metrics: BatchMetrics, queuedCount: Int)] = [
            ([("stream", "messages")], writer.messageMetrics, writer.queuedMessageCount),
            ([("stream", "receipts")], writer.receiptMetrics, writer.queuedReceiptCount),
        ]
        func histogram(_ name: StaticString, _ help: String, _ figure: (BatchMetrics) -> Histogram) {
            text.histogram(name, help, streams.map { ($0.labels, figure($0.metrics).values) })
        }
        func counter(_ name: StaticString, _ help: String, _ figure: (BatchMetrics) -> Counter) {
            text.counter(name, help, streams.map { ($0.labels, figure($0.metrics).value) })
        }
        histogram("parley_batch_items", "Items written by one call.", \.sizes)
        histogram(
            "parley_batch_wait_seconds", "From an item's submission to the beginning of its call.", \.waits)
        histogram(
            "parley_batch_call_seconds", "From a call to its answer: the statement and its commit.", \.calls)
        counter("parley_batch_failures_total", "Calls that failed.", \.failures)
        counter("parley_batch_refused_total", "Items refused because the queue was full, or slow.", \.refusals)
        text.gauge("parley_batch_queued", "Items waiting.", streams.map { ($0.labels, Double($0.queuedCount)) })
    }

    private func writeTail(to text: inout MetricsText) {
        let metrics = tail.metrics
        let causes: [(labels: MetricsText.Labels, metrics: TailMetrics.Cause)] = [
            ([("cause", "notify")], metrics.notified), ([("cause", "turn")], metrics.turn),
            ([("cause", "safety")], metrics.safety), ([("cause", "poll")], metrics.asked),
            ([("cause", "own")], metrics.own),
        ]
        let head = hub.head
        text.gauge("parley_log_position", "Where this node's tail is.", Int(head.position.value))
        text.gauge("parley_log_epoch", "The stretch of unbroken history that it is in.", Int(head.epoch))
        text.counter(
            "parley_log_events_total",
            "Events that the tail delivered, by what made it read; `turn`: this node's writing in turn with others; `own`: "
                + "written by this node, mostly without reading.",
            causes.map { ($0.labels, $0.metrics.events.value) })
        text.counter(
            "parley_log_reads_total", "Reads that found events.", causes.map { ($0.labels, $0.metrics.reads.value) })
        text.histogram(
            "parley_log_delivery_seconds",
            "From a notification's arrival to its events being handed to the waiting polls, by this node's clock.",
            metrics.deliveries.values)
        text.histogram(
            "parley_log_event_age_seconds",
            "From an event's time of writing, by the database's clock and before its commit, to its delivery, by this "
                + "node's: good as far as the two agree.", metrics.ages.values)
        text.counter("parley_log_failures_total", "Reads that failed.", metrics.failures.value)
        text.counter("parley_log_gaps_total", "Missing positions. Not zero: a fault.", metrics.gaps.value)
        text.counter(
            "parley_log_epochs_total", "Times the log went on in a new epoch, with nothing lost here.",
            metrics.epochs.value)
        text.counter(
            "parley_log_restarts_total", "Times the log had lost its tail, or had been trimmed beyond this node.",
            metrics.restarts.value)
        text.counter(
            "parley_log_partitions_made_total", "Partitions of the log made by this node.", upkeepMetrics.made.value)
        text.counter(
            "parley_log_partitions_dropped_total", "Partitions of the log dropped by this node.",
            upkeepMetrics.dropped.value)
    }

    private func writePolls(to text: inout MetricsText) {
        let polls = hub.counters
        text.gauge("parley_polls_waiting", "Parked polls, open streams among them.", polls.parked)
        text.counter("parley_polls_abandoned_total", "Parked polls whose client went away.", polls.abandoned)
        text.counter(
            "parley_polls_displaced_total",
            "Parked polls and streams that ended because their session or account had one more than may wait.",
            polls.displaced)
        text.gauge("parley_mailboxes", "Open mailboxes.", hub.mailboxCount)
        text.counter("parley_mailbox_events_total", "Events put into mailboxes.", polls.delivered)
        text.counter("parley_mailbox_dropped_total", "Events a full mailbox let go.", polls.dropped)
        text.counter(
            "parley_delivered_marks_total", "Delivered marks that polls' cursors gave, told to the database.",
            deliveryMetrics.marks.value)
        text.counter(
            "parley_delivered_mark_failures_total", "Calls with them that failed.", deliveryMetrics.failures.value)
        text.counter(
            "parley_device_changes_total", "Devices that came to poll here or went, told to the database.",
            deviceMetrics.changes.value)
        text.counter(
            "parley_device_change_failures_total", "Calls with them that failed.", deviceMetrics.failures.value)
    }

    private func writeHasher(to text: inout MetricsText) {
        let load = hasher.load
        text.gauge("parley_password_hashes_running", "Passwords and codes being hashed.", load.busy)
        text.gauge("parley_password_hashes_waiting", "Passwords and codes waiting to be hashed.", load.waiting)
    }

    private func writePools(to text: inout MetricsText) {
        let pools = pools.named.map { pool in
            (labels: [(name: "pool", value: pool.name)] as MetricsText.Labels, statistics: pool.client.statistics)
        }
        func gauge(_ name: StaticString, _ help: String, _ figure: (PoolStatistics) -> Int) {
            text.gauge(name, help, pools.map { ($0.labels, Double(figure($0.statistics))) })
        }
        func counter(_ name: StaticString, _ help: String, _ figure: (PoolStatistics.Totals) -> Int) {
            text.counter(name, help, pools.map { ($0.labels, figure($0.statistics.totals)) })
        }
        gauge("parley_database_connections", "Open connections, by pool (docs/architecture.md).", \.connectionCount)
        gauge("parley_database_connecting", "Connections being opened.", \.connectingCount)
        gauge("parley_database_in_flight", "Statements under way.", \.inFlightCount)
        gauge("parley_database_waiting", "Statements waiting for a connection.", \.waitingCount)
        counter("parley_database_statements_total", "Statements taken in.", \.statementCount)
        let kinds: [(name: String, figure: (PoolStatistics.Totals) -> Int)] = [
            ("server", \.serverErrorCount), ("timeout", \.timeoutCount), ("full", \.poolFullCount),
            ("waited", \.waitTimeoutCount),
        ]
        text.counter(
            "parley_database_errors_total",
            "Statements that went wrong, by how; `timeout`: PostgreSQL ended it after its statement_timeout.",
            pools.flatMap { pool in
                kinds.map { kind in
                    (
                        labels: pool.labels + [(name: "kind", value: kind.name)],
                        value: kind.figure(pool.statistics.totals)
                    )
                }
            })
        counter("parley_database_connects_total", "Connections opened.", \.connectCount)
        counter("parley_database_connect_failures_total", "Attempts that failed.", \.connectFailureCount)
        counter("parley_database_connections_lost_total", "Connections that broke.", \.lostCount)
        counter("parley_database_retries_total", "Statements sent again.", \.retryCount)
    }
}
