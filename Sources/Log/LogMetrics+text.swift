// The log's metrics, as /metrics shows them.
import Domain
import Store
import Telemetry

extension Writer {
    func writeMetrics(to text: inout MetricsText) {
        let streams: [(labels: MetricsText.Labels, metrics: BatchMetrics, queuedCount: Int)] = [
            ([("stream", "messages")], messageMetrics, queuedMessageCount),
            ([("stream", "receipts")], receiptMetrics, queuedReceiptCount),
        ]
        func histogram(_ name: StaticString, _ help: String, _ metric: (BatchMetrics) -> Histogram) {
            text.histogram(name, help, streams.map { ($0.labels, metric($0.metrics).values) })
        }
        func counter(_ name: StaticString, _ help: String, _ metric: (BatchMetrics) -> Counter) {
            text.counter(name, help, streams.map { ($0.labels, metric($0.metrics).value) })
        }
        histogram("parley_batch_items", "Items written by one batch.", \.sizes)
        histogram("parley_batch_wait_seconds", "Time an item waits in the queue before its batch is sent.", \.waits)
        histogram(
            "parley_batch_call_seconds", "Time from sending a batch to its answer: the statement and its commit.",
            \.calls)
        counter("parley_batch_failures_total", "Batches that failed.", \.failures)
        counter(
            "parley_batch_refused_total", "Items refused because the queue was full or the wait too long.", \.refusals)
        text.gauge(
            "parley_batch_queued", "Items waiting in the queue.", streams.map { ($0.labels, Double($0.queuedCount)) })
    }
}

extension TailMetrics {
    /// - Parameter head: where this node's tail is.
    func write(to text: inout MetricsText, head: Cursor) {
        let causes: [(labels: MetricsText.Labels, metrics: TailMetrics.Cause)] = [
            ([("cause", "notify")], notified), ([("cause", "turn")], turn), ([("cause", "safety")], safety),
            ([("cause", "poll")], asked), ([("cause", "own")], own),
        ]
        text.gauge("parley_log_position", "The log position this node has read to.", Int(head.position.value))
        text.gauge("parley_log_epoch", "The epoch of the log that this node has read to.", Int(head.epoch))
        text.counter(
            "parley_log_events_total",
            "Events delivered by this node's tail, by what made it read. `turn`: a read between this node's own writes; "
                + "`own`: events this node wrote, mostly delivered without a read.",
            causes.map { ($0.labels, $0.metrics.events.value) })
        text.counter(
            "parley_log_reads_total", "Reads of the log that found events, by what made the tail read.",
            causes.map { ($0.labels, $0.metrics.reads.value) })
        text.histogram(
            "parley_log_delivery_seconds",
            "Time from a notification's arrival to handing its events to the waiting polls, by this node's clock.",
            deliveries.values)
        text.histogram(
            "parley_log_event_age_seconds",
            "Time from writing an event (database's clock, before the commit) to delivering it (this node's clock). "
                + "Accurate only as far as the two clocks agree.", ages.values)
        text.counter("parley_log_gaps_total", "Missing log positions. Any value but 0 is a fault.", gaps.value)
        text.counter(
            "parley_log_epochs_total", "New epochs of the log, opened without a loss for this node.", epochs.value)
        text.counter(
            "parley_log_restarts_total",
            "Times this node dropped its caches: the log lost its tail, or was trimmed past this node.", restarts.value)
    }
}

extension Hub {
    func writeMetrics(to text: inout MetricsText) {
        let polls = counters
        text.gauge("parley_polls_waiting", "Waiting polls, including open streams.", polls.parked)
        text.counter("parley_polls_abandoned_total", "Waiting polls whose client went away.", polls.abandoned)
        text.counter(
            "parley_polls_displaced_total",
            "Waiting polls and streams ended because their session or account opened one more than allowed.",
            polls.displaced)
        text.gauge("parley_mailboxes", "Open mailboxes.", mailboxCount)
        text.counter("parley_mailbox_events_total", "Events put into mailboxes.", polls.delivered)
        text.counter("parley_mailbox_dropped_total", "Events dropped from full mailboxes.", polls.dropped)
    }
}
