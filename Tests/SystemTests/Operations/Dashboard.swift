// The Grafana dashboard in docker/grafana-dashboard.json. Only its rows and the metrics of each panel are written here.
// The queries, units and descriptions follow from what a node's /metrics says about these metrics.
import Foundation
import TestSupport

struct Dashboard {
    /// A panel that shows some metrics. `parley_` is left out of their names.
    struct Panel {
        /// How a gauge's values of several nodes become one.
        enum Across: String { case sum, max, eachNode = "" }

        let title: String
        let metrics: [String]
        var filter: String?
        /// The labels that have a line each. Nil: all of the metric.
        var labels: [String]?
        var across = Across.sum
        var quantiles = [0.5, 0.99]
        /// Queries that combine metrics, each with its legend.
        var queries: [(legend: String, query: String)] = []
        var unit: String?

        init(_ title: String, _ metrics: String...) { (self.title, self.metrics) = (title, metrics) }

        func with<Value>(_ option: WritableKeyPath<Panel, Value>, _ value: Value) -> Panel {
            var copy = self
            copy[keyPath: option] = value
            return copy
        }

        /// Shows a query that combines metrics.
        func query(_ legend: String, _ query: String, unit: String = "short") -> Panel {
            with(\.queries, queries + [(legend, query)]).with(\.unit, unit)
        }
    }

    /// A row of panels, with a title.
    struct Row {
        let title: String
        let panels: [Panel]

        init(_ title: String, _ panels: Panel...) { (self.title, self.panels) = (title, panels) }
    }

    static let rows = [
        glance, requests, writing, log, polls, database, processes, background, limits, push, attachments, feeds,
        integrations, moderation, archives,
    ]

    private static let glance = Row(
        "At a glance",
        Panel("Nodes").query("", "count(parley_build_info@)"),
        Panel("Waiting polls", "polls_waiting"),
        Panel("Messages").query("", #"sum(rate(parley_batch_items_sum@{stream="messages"}%))"#, unit: "ops"),
        Panel("Delivery, p99", "log_delivery_seconds").with(\.quantiles, [0.99]),
        Panel("Failed requests")
            .query("", #"sum(rate(parley_http_requests_total@{status="5xx"}%)) or vector(0)"#, unit: "reqps"),
        Panel("Missing positions").query("", "sum(parley_log_gaps_total@)"))

    private static let requests = Row(
        "Requests",
        Panel("Requests by operation", "http_requests_total").with(\.labels, ["operation"]),
        Panel("Refused and failed", "http_requests_total").with(\.filter, #"status=~"4xx|5xx""#),
        Panel("Time to answer, p99", "http_request_seconds").with(\.labels, ["operation"])
            .with(\.quantiles, [0.99]),
        Panel("Sending", "http_request_seconds").with(\.filter, #"operation="sendMessage""#).with(\.labels, [])
            .with(\.quantiles, [0.5, 0.95, 0.99]),
        Panel("Connections", "http_connections").with(\.across, .eachNode),
        Panel(
            "Connections opened, refused and closed", "http_connections_total", "http_connections_refused_total",
            "http_clients_gone_total", "http_timeouts_total", "http_connections_displaced_total",
            "http_bodies_refused_total"))

    private static let writing = Row(
        "Writing",
        Panel("Items per call").query(
            "{{stream}}",
            "sum by (stream) (rate(parley_batch_items_sum@%)) / sum by (stream) (rate(parley_batch_items_count@%))"),
        Panel("Time of a call with its commit", "batch_call_seconds"),
        Panel("Time in the queue", "batch_wait_seconds"),
        Panel("Items waiting", "batch_queued").with(\.across, .eachNode),
        Panel("Failed calls, refused items", "batch_failures_total", "batch_refused_total"))

    private static let log = Row(
        "The log",
        Panel("Delivery", "log_delivery_seconds"),
        Panel("Age of events at delivery", "log_event_age_seconds"),
        Panel("Events by cause of the read", "log_events_total"),
        Panel("Behind the most advanced node")
            .query("{{instance}}", "scalar(max(parley_log_position@)) - parley_log_position@"),
        Panel("Events per read").query(
            "{{cause}}",
            "sum by (cause) (rate(parley_log_events_total@%)) / sum by (cause) (rate(parley_log_reads_total@%))"),
        Panel(
            "Restarts and partitions", "log_restarts_total", "log_epochs_total", "log_partitions_made_total",
            "log_partitions_dropped_total"),
        Panel("Epoch", "log_epoch").with(\.across, .max))

    private static let polls = Row(
        "Polls and streams",
        Panel("Waiting polls", "polls_waiting").with(\.across, .eachNode),
        Panel("Mailboxes", "mailboxes").with(\.across, .eachNode),
        Panel(
            "Mailbox events", "mailbox_events_total", "mailbox_dropped_total", "polls_abandoned_total",
            "polls_displaced_total", "delivered_marks_total"),
        Panel("Open streams", "streams").with(\.across, .eachNode),
        Panel("Streams opened and ended", "streams_total", "streams_ended_total"),
        Panel("Devices that began or stopped polling", "device_changes_total"))

    private static let database = Row(
        "Database",
        Panel("Statements", "database_statements_total"),
        Panel(
            "Connection pools", "database_connections", "database_connecting", "database_in_flight",
            "database_waiting"
        ).with(\.labels, []),
        Panel("Database errors", "database_errors_total").with(\.labels, ["kind"]),
        Panel(
            "Connections to the database", "database_connects_total", "database_connect_failures_total",
            "database_connections_lost_total", "database_retries_total"
        ).with(\.labels, []),
        Panel("Reads on the replica, and on the primary instead", "replica_reads_total", "replica_primary_reads_total"),
        Panel("Waiting for the replica", "replica_wait_seconds"),
        Panel("Lag of the replica").query("{{instance}}", "parley_replica_lag_bytes@", unit: "bytes"),
        Panel("The replica is used", "replica_used").with(\.across, .eachNode))

    private static let processes = Row(
        "Processes",
        Panel("Processor").query("{{instance}}", #"rate(process_cpu_seconds_total@{job="$job"}%)"#),
        Panel("Memory")
            .query("{{instance}}", #"process_resident_memory_bytes@{job="$job"}"#, unit: "bytes")
            .query("request bodies, {{instance}}", "parley_http_body_bytes@", unit: "bytes"),
        Panel("Open files").query("{{instance}}", #"process_open_fds@{job="$job"}"#)
            .query("limit", #"min(process_max_fds@{job="$job"})"#),
        Panel("Failures of background workers", "worker_failures_total"))

    private static let background = Row(
        "Search, retention, sending from SQL",
        Panel("Search index, events behind the log").query(
            "events", "max(parley_log_position@) - max(parley_search_position@)"),
        Panel("Indexing", "search_indexed_total"),
        Panel(
            "Retention, erasures, announcements", "retention_looks_total", "erasure_steps_total",
            "announcement_parts_total"),
        Panel("Outbox", "outbox_rows_total", "outbox_failed_rows_total"),
        Panel("Outbox databases", "outbox_database_up").with(\.across, .max))

    private static let limits = Row(
        "Limits and sign-ins",
        Panel("Rate limits", "rate_limited_total"),
        Panel("Reads of an account", "account_reads_waited_total", "account_reads_refused_total"),
        Panel("Wrong tokens", "admin_wrong_tokens_total", "unknown_tokens_total"),
        Panel("Failed sign-ins", "sign_in_failures_total", "sign_ins_refused_total"),
        Panel("Accounts and addresses with failed sign-ins", "sign_in_failing").with(\.across, .max),
        Panel("Password hashes", "password_hashes_running", "password_hashes_waiting"),
        Panel("Expired sessions", "sessions_expired_total"),
        Panel("Mails", "mails_total"),
        Panel("Mail relay", "mail_relay_failing").with(\.across, .eachNode))

    private static let push = Row(
        "Push",
        Panel("Alerts", "push_alerts_total", "push_tokens_forgotten_total"),
        Panel("Suppressed alerts", "push_suppressed_total").with(\.labels, ["reason"]),
        Panel("Time from message to alert", "push_delay_seconds"),
        Panel("Due alerts", "push_queue_seconds").with(\.across, .max),
        Panel("Halted push services", "push_halted").with(\.across, .max),
        Panel("Planned alerts", "push_made_total"),
        Panel("Alert planning, events behind the log").query(
            "events", "max(parley_log_position@) - max(parley_push_position@)"))

    private static let attachments = Row(
        "Attachments",
        Panel("Transfers in progress", "uploads_running", "downloads_running"),
        Panel(
            "Attachment bytes", "upload_bytes_total", "download_bytes_total", "attachment_moved_bytes_total"),
        Panel("Uploads", "uploads_total", "uploads_displaced_total", "downloads_displaced_total"),
        Panel("Checks", "attachment_checks_total", "attachment_scan_failures_total"),
        Panel("Check duration", "attachment_check_seconds"),
        Panel("Checks running", "attachment_checks_running"),
        Panel("Thumbnails", "attachment_thumbnails_total", "attachment_pictures_unreadable_total"),
        Panel("Attachments by place", "attachments", "attachment_garbage").with(\.across, .max),
        Panel(
            "Moved and deleted", "attachments_moved_total", "attachment_sweeps_total", "objects_deleted_total"))

    private static let feeds = Row(
        "Changes feed and webhooks",
        Panel("Lag of consumers, events", "changes_lag_events").with(\.across, .max),
        Panel("Lag of consumers, age", "changes_lag_seconds").with(\.across, .max),
        Panel("Events and reads of the feed", "changes_events_total", "changes_reads_total"),
        Panel("Readers of the feed", "changes_readers").with(\.across, .eachNode),
        Panel("Lag of webhooks, events", "webhook_lag_events").with(\.across, .max),
        Panel("Lag of webhooks, age", "webhook_lag_seconds").with(\.across, .max),
        Panel("Requests to webhooks", "webhook_deliveries_total", "webhook_lost_events_total"),
        Panel("Time from event to webhook", "webhook_delay_seconds"))

    private static let integrations = Row(
        "Hooks, commands, policy",
        Panel("Posts to hooks", "hook_posts_total"),
        Panel("Commands", "command_runs_total"),
        Panel("Requests to commands", "command_requests_running"),
        Panel("Time from message to answer of a command", "command_delay_seconds"),
        Panel("Verdicts of the policy", "policy_answers_total", "policy_failures_total"),
        Panel("Time of the policy", "policy_seconds"),
        Panel("Policy paused", "policy_paused").with(\.across, .eachNode))

    private static let moderation = Row(
        "Moderation and legal holds",
        Panel("Reports and reviews", "reports_open", "reviews_pending").with(\.across, .max),
        Panel("Legal holds", "holds_in_force", "held_contents", "held_files").with(\.across, .max),
        Panel("Bytes of legal holds", "held_bytes").with(\.across, .max))

    private static let archives = Row(
        "Imports and exports",
        Panel("Imports", "imports_total", "imports_swept_total"),
        Panel("Lines imported", "import_lines_total"),
        Panel("Imports at once", "import_seconds_total").with(\.unit, "short"),
        Panel("Exports", "exports_total"),
        Panel("Lines exported", "export_lines_total"),
        Panel("Bytes of exports", "export_bytes_total"))
}

// MARK: The file

extension Dashboard {
    private static let source = ["type": "prometheus", "uid": "${datasource}"]

    private static let head = """
        {"title": "Parley", "uid": "parley", "description": "The nodes of a Parley service, from their /metrics.",
        "tags": ["parley"], "schemaVersion": 39, "version": 1, "editable": true, "graphTooltip": 1, "refresh": "15s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [
        {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
        {"name": "job", "label": "Job", "type": "query", "datasource": {"type": "prometheus", "uid": "${datasource}"},
         "query": "label_values(parley_build_info, job)", "refresh": 2},
        {"name": "instance", "label": "Node", "type": "query", "datasource": {"type": "prometheus", "uid": "${datasource}"},
         "query": "label_values(parley_build_info{job=\\"$job\\"}, instance)", "refresh": 2, "multi": true,
         "includeAll": true, "allValue": ".*", "current": {"text": "All", "value": "$__all"}}]},
        "panels": [

        """

    /// The text of the file, with a panel in each line.
    /// - Parameter page: a page with samples of each metric.
    static func text(_ page: PrometheusPage) throws -> String {
        var panels: [[String: Any]] = []
        var y = 0
        func add(_ panel: [String: Any], x: Int, width: Int, height: Int) {
            let place = ["x": x, "y": y, "w": width, "h": height]
            panels.append(panel.merging(["id": panels.count + 1, "gridPos": place]) { $1 })
        }
        for (index, row) in rows.enumerated() {
            add(["type": "row", "title": row.title, "collapsed": false, "panels": [Any]()], x: 0, width: 24, height: 1)
            y += 1
            // The first row has single numbers, the others have lines.
            let size = index == 0 ? 4 : 8
            for (index, panel) in row.panels.enumerated() {
                if index > 0, index * size % 24 == 0 { y += size }
                add(try json(panel, page, isNumber: size == 4), x: index * size % 24, width: size, height: size)
            }
            y += size
        }
        let lines = try panels.map { panel in
            let data = try JSONSerialization.data(
                withJSONObject: panel, options: [.sortedKeys, .withoutEscapingSlashes])
            return String(decoding: data, as: UTF8.self)
        }
        return head + lines.joined(separator: ",\n") + "\n]}\n"
    }

    private static func json(_ panel: Panel, _ page: PrometheusPage, isNumber: Bool) throws -> [String: Any] {
        let families = try panel.metrics.map { try family("parley_" + $0, page) }
        let queries = families.flatMap { panel.queries(of: $0, isAlone: families.count == 1) } + panel.queries
        var defaults: [String: Any] = ["unit": panel.unit ?? families.first?.unit ?? "short"]
        var options: [String: Any] = ["reduceOptions": ["calcs": ["lastNotNull"]]]
        if !isNumber {
            defaults["min"] = 0
            defaults["custom"] = ["lineWidth": 1, "fillOpacity": 20, "showPoints": "never"] as [String: Any]
            options = [
                "legend": ["displayMode": "list", "placement": "bottom"], "tooltip": ["mode": "multi", "sort": "desc"],
            ]
        }
        let combined = try panel.queries.flatMap { try metrics(in: $0.query, page) }
        let lines = (families + combined).map { "`\($0.name)`: \($0.help)" }
        return [
            "type": isNumber ? "stat" : "timeseries", "title": panel.title,
            "description": lines.joined(separator: "\n\n"), "datasource": source, "options": options,
            "fieldConfig": ["defaults": defaults, "overrides": [Any]()] as [String: Any],
            "targets": queries.enumerated().map { index, line in
                ["refId": "Q\(index)", "legendFormat": line.legend, "expr": expanded(line.query)]
            },
        ]
    }

    /// Writes `@` as the choice of nodes, and `%` as the time that a rate is taken of.
    private static func expanded(_ query: String) -> String {
        query.replacing("@{", with: #"{instance=~"$instance", "#).replacing("@", with: #"{instance=~"$instance"}"#)
            .replacing("%", with: "[$__rate_interval]")
    }

    private static func metrics(in query: String, _ page: PrometheusPage) throws -> [PrometheusPage.Family] {
        try query.matches(of: /\b(?:parley|process)_[a-z_]+/).map { try family(String($0.output), page) }
    }

    private static func family(_ name: String, _ page: PrometheusPage) throws -> PrometheusPage.Family {
        let base = name.replacing(/_(count|sum|bucket)$/, with: "")
        guard let family = page.families[name] ?? page.families[base] else { throw Unknown(metric: name) }
        return family
    }

    struct Unknown: Error { let metric: String }
}

extension Dashboard.Panel {
    /// One query for each line of a metric, and for a histogram one for each quantile.
    fileprivate func queries(of family: PrometheusPage.Family, isAlone: Bool) -> [(legend: String, query: String)] {
        let labels = labels ?? Set(family.samples.flatMap(\.labels.keys)).subtracting(["le"]).sorted()
        let selector = "@" + (filter.map { "{\($0)}" } ?? "")
        let name = family.name.replacing(/^parley_|_total$/, with: "").replacing("_", with: " ")
        let words = (isAlone ? [] : [name]) + labels.map { "{{\($0)}}" }
        func by(_ labels: [String]) -> String { labels.isEmpty ? "" : " by (\(labels.joined(separator: ", "))) " }
        switch family.type {
        case "histogram":
            return quantiles.map { quantile in
                let rate = "rate(\(family.name)_bucket\(selector)%)"
                return (
                    (words + ["p\(Int(quantile * 100))"]).joined(separator: " "),
                    "histogram_quantile(\(quantile), sum\(by(["le"] + labels))(\(rate)))"
                )
            }
        case "gauge" where across == .eachNode:
            return [((["{{instance}}"] + words).joined(separator: " "), family.name + selector)]
        case "gauge":
            let legend = words.isEmpty ? name : words.joined(separator: " ")
            return [(legend, "\(across.rawValue)\(by(labels))(\(family.name)\(selector))")]
        default:
            let legend = words.isEmpty ? name : words.joined(separator: " ")
            return [(legend, "sum\(by(labels))(rate(\(family.name)\(selector)%))")]
        }
    }
}

extension PrometheusPage.Family {
    /// Grafana's name of the unit of the metric, or of its rate.
    fileprivate var unit: String {
        switch (name.contains("bytes"), type == "counter") {
        case (true, true): "Bps"
        case (true, false): "bytes"
        case (false, true): "ops"
        case (false, false): name.hasSuffix("_seconds") ? "s" : "short"
        }
    }
}
