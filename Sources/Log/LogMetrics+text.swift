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
        histogram("parley_batch_items", "Items of a database call, by `stream`: messages, receipts.", \.sizes)
        histogram(
            "parley_batch_wait_seconds", "Time from an item's submission to the start of its call, by `stream`.",
            \.waits)
        histogram(
            "parley_batch_call_seconds", "Time of a call with its commit, by `stream`; failed attempts included.",
            \.calls)
        counter("parley_batch_failures_total", "Calls that failed, by `stream`. They are retried.", \.failures)
        counter(
            "parley_batch_refused_total",
            "Items refused because the queue was full or the wait too long, by `stream`.", \.refusals)
        text.gauge(
            "parley_batch_queued", "Items waiting in the queue, by `stream`.",
            streams.map { ($0.labels, Double($0.queuedCount)) })
    }
}

extension Hub {
    func writeMetrics(to text: inout MetricsText) {
        let (polls, head) = (counters, head)
        text.gauge(
            "parley_log_position", "Position up to which this node has read the log.", Int(head.position.value))
        text.gauge("parley_log_epoch", "Current epoch of the log.", Int(head.epoch))
        text.gauge("parley_polls_waiting", "Waiting polls, idle streams included.", polls.parked)
        text.counter("parley_polls_abandoned_total", "Waiting polls whose client disconnected.", polls.abandoned)
        text.counter(
            "parley_polls_displaced_total",
            "Waiting polls and streams ended because their session or account opened one more than allowed.",
            polls.displaced)
        text.gauge(
            "parley_mailboxes", "Users with a mailbox on this node: one for each user with a polling device.",
            mailboxCount)
        text.counter("parley_mailbox_events_total", "Events put into mailboxes.", polls.delivered)
        text.counter(
            "parley_mailbox_dropped_total",
            "Events dropped from full mailboxes. They are read from the database instead.", polls.dropped)
    }
}
