// /metrics of a node that has done a bit of everything, and the dashboard that reads it.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Metrics", .timeLimit(.minutes(2)))
    struct MetricsPage {
        /// A node after a chat, so that each kind of metric has values.
        private func page() async throws -> PrometheusPage {
            let nodes = try await TestNodes.shared()
            // A consumer of the changes feed, whose lag the nodes show within 10 s.
            _ = try await Psql.run(
                """
                insert into change_consumers (id, name, epoch, pos, created_at, moved_at)
                values (gen_random_uuid(), 'crm', log_epoch(), log_head(), now(), now()) on conflict do nothing
                """, conninfo: nodes.database)
            try await eventually("the lag of a consumer") { try await nodes.a.metric("parley_changes_lag_events") }
            // Webhooks for both nodes: a node claims eight at a time.
            _ = try await Psql.run(
                """
                insert into webhooks (id, url, types, is_thin, is_ordered, secret, created_at)
                select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'https://hooks.invalid/',
                    '{session.revoked}', false, true, decode(repeat('00', 32), 'hex'), now()
                from generate_series(1, 12) n on conflict do nothing;
                insert into webhook_states (webhook_id, epoch, pos)
                select w.id, log_epoch(), log_head() from webhooks w on conflict do nothing
                """, conninfo: nodes.database)
            try await eventually("the lag of a webhook") { try await nodes.a.metric("parley_webhook_lag_events") }
            let ann = try await nodes.a.client.register("Ann")
            let bob = try await nodes.a.client.register("Bob")
            let thread = try await nodes.a.client.thread("direct", by: ann, with: [bob])
            let cursor = try await nodes.a.client.cursor(of: bob)
            _ = try await nodes.a.client.sent("hi", in: thread, as: ann)
            #expect(try await nodes.a.client.sync(bob, from: cursor, wait: 10).json["events"].items.count == 1)
            #expect(try await nodes.a.client.put("/v1/threads/\(thread)/receipts", ["read": 1], as: bob).status == 204)
            // The other node's events may also come by a read that had another cause.
            try await eventually("an event that came by a notification") {
                _ = try await nodes.b.client.sent("hi", in: thread, as: bob)
                return try await nodes.a.metric("parley_log_delivery_seconds_count") ?? 0 > 0 ? true : nil
            }
            let answer = try await nodes.a.client.get("/metrics")
            #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            return try PrometheusPage(answer.text)
        }

        @Test("follow the Prometheus format, and agree with the requests that were sent")
        func figures() async throws {
            let page = try await page()
            func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
                let family = page.families[name] ?? page.families[name.replacing(/_(count|sum|bucket)$/, with: "")]
                return family?.samples.first { sample in
                    sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
                }?.value
            }
            #expect(value("parley_build_info") == 1)
            let sends = value("parley_http_requests_total", ["operation": "sendMessage", "status": "2xx"]) ?? 0
            #expect(sends >= 1)
            #expect(value("parley_http_request_seconds_count", ["operation": "sendMessage", "status": "2xx"]) == sends)
            let messages = value("parley_batch_items_sum", ["stream": "messages"]) ?? 0
            #expect(messages >= sends)
            #expect(value("parley_batch_wait_seconds_count", ["stream": "messages"]) == messages)
            #expect(value("parley_batch_call_seconds_count", ["stream": "receipts"]) ?? 0 >= 1)
            #expect(value("parley_log_events_total", ["cause": "notify"]) ?? 0 >= 1)
            #expect(value("parley_log_delivery_seconds_count") ?? 0 >= 1)
            // Database and node run on one machine here, so their clocks agree.
            let age =
                (value("parley_log_event_age_seconds_sum") ?? 0) / (value("parley_log_event_age_seconds_count") ?? 0)
            #expect((0..<10).contains(age), "\(age) s")
            #expect(value("parley_log_position") ?? 0 > 0 && value("parley_log_gaps_total") == 0)
            #expect(value("parley_database_connections") ?? 0 >= 1)
            let now = Date().timeIntervalSince1970
            #expect((now - 3600...now).contains(value("process_start_time_seconds") ?? 0))
        }

        @Test("have only fixed words as label values, and ids of webhooks")
        func labels() async throws {
            let words = /[A-Za-z0-9_]+|[1-5]xx|[0-9]+\.[0-9]+\.[0-9]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/
            for sample in try await page().families.values.flatMap(\.samples) {
                for (name, value) in sample.labels where name != "le" {
                    #expect(value.wholeMatch(of: words) != nil, "\(sample)")
                }
            }
        }

        @Test("explain each of their labels")
        func explained() async throws {
            for family in try await page().families.values {
                for label in Set(family.samples.flatMap(\.labels.keys)) where label != "le" {
                    #expect(family.help.contains("`\(label)`"), "\(family.name) has the label \(label)")
                }
            }
        }

        @Test("are listed in docs/metrics.md (make docs writes the table)")
        func listed() async throws {
            let rows = try await page().families.values.sorted { $0.name < $1.name }.map { family in
                let help = family.help.replacing(/docs\/([a-z-]+)\.(?:md|yaml)/) { "[\($0.1)](\($0.0.dropFirst(5)))" }
                return ["`\(family.name)`", family.type, help]
            }
            try GeneratedText.check(
                "docs/metrics.md", "metrics", is: GeneratedText.table(["metric", "type", "meaning"], rows))
        }

        @Test("are all on the dashboard, except some of the process (make docs writes the dashboard)")
        func dashboard() async throws {
            let page = try await page()
            let text = try Dashboard.text(page)
            try GeneratedText.check("docker/grafana-dashboard.json", is: text)
            let names = Set(text.matches(of: /\b(?:parley|process)_[a-z0-9_]+/).map { String($0.output) })
            let samples = page.families.values.flatMap(\.samples).map(\.name)
            #expect(names.subtracting(samples).subtracting(page.families.keys) == [])
            let shown = names.map { $0.replacing(/_(count|sum|bucket)$/, with: "") }
            #expect(page.families.keys.filter { $0.hasPrefix("parley_") && !shown.contains($0) } == [])
        }

        @Test("count the failures of workers once, by the workers that failed")
        func workers() async throws {
            let failures = try await page().families.filter { $0.value.help.contains("failed and were retried") }
            #expect(failures.keys.sorted() == ["parley_worker_failures_total"])
            #expect(failures.values.flatMap(\.samples).count > 20)
        }

        @Test("include each metric that the alerts in docs/operations.md use")
        func alerts() async throws {
            let families = try await page().families
            let text = try String(contentsOf: Repository.file("docs/operations.md"), encoding: .utf8)
            let names = Set(text.matches(of: /\b(?:parley|process)_[a-z]+_[a-z_]*[a-z]/).map { String($0.output) })
            #expect(names.count > 15)
            for name in names where families[name] == nil {
                #expect(families[name.replacing(/_(count|sum|bucket)$/, with: "")] != nil, "\(name)")
            }
        }
    }
}
