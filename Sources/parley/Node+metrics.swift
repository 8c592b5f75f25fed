// What /metrics shows of a node, as Prometheus text.
import API
import Log
import Transport

extension Node {
    /// One line a figure; names are `parley_…`, units last.
    func metrics() -> String {
        var text = PrometheusText()
        let batches: [(String, BatchCounters)] = [
            ("messages", writer.messageCounters), ("receipts", writer.receiptCounters),
        ]
        text.add(
            "parley_batches_total", .counter, "Calls that wrote a batch.",
            batches.map { ("stream=\"\($0)\"", $1.batches) })
        text.add(
            "parley_batched_items_total", .counter, "Items in them.", batches.map { ("stream=\"\($0)\"", $1.items) })
        text.add(
            "parley_batch_largest", .gauge, "Items in the largest.", batches.map { ("stream=\"\($0)\"", $1.largest) })
        text.add(
            "parley_batch_failures_total", .counter, "Calls that failed.",
            batches.map { ("stream=\"\($0)\"", $1.failures) })
        text.add("parley_batch_queued", .gauge, "Items waiting.", batches.map { ("stream=\"\($0)\"", $1.queued) })
        text.add(
            "parley_batch_call_microseconds_total", .counter, "Time in those calls.",
            batches.map { ("stream=\"\($0)\"", Int($1.callMicros)) })
        let counters = tail.counters
        text.add("parley_log_position", .gauge, "Where this node's tail is.", Int(hub.head.position.value))
        text.add("parley_log_events_total", .counter, "Events read by the tail.", counters.events)
        text.add(
            "parley_log_reads_total", .counter, "Reads that found events.",
            [("cause=\"notify\"", counters.readsNotified), ("cause=\"safety\"", counters.readsSafety)])
        text.add("parley_log_failures_total", .counter, "Reads that failed.", counters.failures)
        text.add("parley_log_gaps_total", .counter, "Missing positions. Not zero: a fault.", counters.gaps)
        text.add("parley_log_restarts_total", .counter, "Times the log had lost its tail.", counters.restarts)
        let polls = hub.counters
        text.add("parley_polls_waiting", .gauge, "Parked polls.", polls.parked)
        text.add("parley_polls_abandoned_total", .counter, "Parked polls whose client went away.", polls.abandoned)
        text.add("parley_mailboxes", .gauge, "Open mailboxes.", hub.mailboxCount)
        text.add("parley_mailbox_events_total", .counter, "Events put into mailboxes.", polls.delivered)
        text.add("parley_mailbox_dropped_total", .counter, "Events a full mailbox let go.", polls.dropped)
        let pool = client.statistics
        text.add("parley_database_connections", .gauge, "Open connections.", pool.connectionCount)
        text.add("parley_database_in_flight", .gauge, "Statements under way.", pool.inFlightCount)
        text.add("parley_database_waiting", .gauge, "Statements waiting.", pool.waitingCount)
        return text.rendered
    }
}

/// The Prometheus text format, version 0.0.4.
struct PrometheusText {
    enum Kind: String { case counter, gauge }

    private(set) var rendered = ""

    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Int) {
        add(name, kind, help, [("", value)])
    }

    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ values: [(labels: String, value: Int)]) {
        rendered += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
        for (labels, value) in values {
            rendered += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
        }
    }
}
