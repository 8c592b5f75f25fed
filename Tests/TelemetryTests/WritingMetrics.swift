// The text of /metrics, and the strict parser that checks it.
import Glibc
import TestSupport
import Testing

@testable import Telemetry

@Suite("The text of metrics", .timeLimit(.minutes(1)))
struct WritingMetrics {
    @Test("follows the Prometheus text format")
    func text() throws {
        var text = MetricsText()
        text.counter("a_total", "Things.", 3)
        text.gauge("b", "A \"part\"\nof a\\b.", [([("kind", "x\"y\\z\nw"), ("other", "")], 0.5)])
        let histogram = Histogram(.items)
        histogram.record(2)
        histogram.record(1000)
        text.histogram("c", "Sizes.", [([("stream", "s")], histogram.values)])
        let lines = text.text.split(separator: "\n")
        #expect(
            lines.prefix(5) == [
                "# HELP a_total Things.", "# TYPE a_total counter", "a_total 3",
                #"# HELP b A "part"\nof a\\b."#, "# TYPE b gauge",
            ])
        #expect(lines[5] == #"b{kind="x\"y\\z\nw",other=""} 0.5"#)
        #expect(lines[8] == #"c_bucket{stream="s",le="1"} 0"#)
        #expect(lines[9] == #"c_bucket{stream="s",le="2"} 1"#)
        #expect(
            lines.suffix(3) == [
                #"c_bucket{stream="s",le="+Inf"} 2"#, #"c_sum{stream="s"} 1002"#, #"c_count{stream="s"} 2"#,
            ])
        let page = try PrometheusPage(text.text)
        #expect(page.families.keys.sorted() == ["a_total", "b", "c"])
        #expect(page.families["b"]?.samples.first?.value == 0.5)
    }

    @Test("reports seconds, whatever unit was recorded")
    func units() throws {
        var text = MetricsText()
        let histogram = Histogram(.seconds)
        histogram.record(.microseconds(1_500))
        text.histogram("d_seconds", "Times.", histogram.values)
        let samples = try #require(try PrometheusPage(text.text).families["d_seconds"]?.samples)
        #expect(samples.first { $0.name == "d_seconds_sum" }?.value == 0.0015)
        #expect(samples.first { $0.labels["le"] == "0.001" }?.value == 0)
        #expect(samples.first { $0.labels["le"] == "0.0025" }?.value == 1)
    }

    private enum End: String, CaseIterable { case good, bad }

    private final class Parts: Metrics {
        let lines = Counter("lines_total", "Lines.")
        private let seconds = Counter("seconds_total", "Time.", unit: 1_000)
        let failures = Counter()
        private let ends = LabelledCounters<End>("ends_total", "Ends, by `end`.", by: "end")
        private let running = Gauge("running", "Parts.")
        private let lags = LabelledGauge("lag", "Lag, by `name`.", by: "name")
        private let times = Histogram("times", "Times.", .items)

        init() {
            lines.add(3)
            seconds.add(1_500)
            failures.add()
            ends.add(.bad, 2)
            running.add(5)
            running.add(-1)
            lags.show { [("x", 0.5), ("y", 2)] }
            times.record(1)
        }
    }

    @Test("has the properties of a type that counts, private ones too, and not those without a name")
    func properties() throws {
        var text = MetricsText()
        Parts().write(to: &text)
        let lines = text.text.split(separator: "\n").filter { !$0.hasPrefix("#") && !$0.contains("_bucket") }
        #expect(
            lines == [
                "lines_total 3", "seconds_total 1.5", #"ends_total{end="good"} 0"#, #"ends_total{end="bad"} 2"#,
                "running 4", #"lag{name="x"} 0.5"#, #"lag{name="y"} 2"#, "times_sum 1", "times_count 1",
            ])
        #expect(try PrometheusPage(text.text).families["ends_total"]?.help == "Ends, by `end`.")
    }

    @Test("reports the state of the process")
    func process() throws {
        let figures = try #require(ProcessMetrics.read())
        #expect(figures.cpuSeconds > 0 && figures.residentByteCount > 1_000_000 && figures.threadCount >= 1)
        #expect((3...figures.openFileCountMax).contains(figures.openFileCount))
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        #expect((Double(now.tv_sec) - 86_400 * 2...Double(now.tv_sec) + 1).contains(figures.startSeconds))
        var text = MetricsText()
        figures.write(to: &text)
        let names = try PrometheusPage(text.text).families.keys
        #expect(names.allSatisfy { $0.hasPrefix("process_") } && names.count == 7)
    }

    @Test(
        "is distinguished from text that only looks like it",
        arguments: [
            "a 1\n", "# HELP a x\na 1\n", "# HELP a x\n# TYPE a gauge\na 1", "# HELP a x\n# TYPE a gauge\n\na 1\n",
            "# HELP a x\n# TYPE a counter\na 1\n", "# HELP a x\n# TYPE a gauge\nb 1\n",
            "# HELP a x\n# TYPE a gauge\na{b=\"1\",} 1\n", "# HELP a x\n# TYPE a gauge\na{b=\"1\" } 1\n",
            "# HELP a x\n# TYPE a gauge\na{b=\"1\",b=\"2\"} 1\n", "# HELP a x\n# TYPE a gauge\na{b=\"\\x\"} 1\n",
            "# HELP a x\n# TYPE a gauge\na one\n", "# HELP a x\n# TYPE a gauge\na 1\na 1\n",
            "# HELP a x\n# TYPE a gauge\na 1\n# HELP a x\n# TYPE a gauge\na{b=\"1\"} 1\n",
            "# HELP a x\n# TYPE a histogram\na_bucket{le=\"1\"} 1\na_sum 1\na_count 1\n",
            "# HELP a x\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
            "# HELP a x\n# TYPE a histogram\na_bucket{le=\"1\"} 1\na_bucket{le=\"+Inf\"} 2\na_sum 1\na_count 1\n",
            "# HELP a x\n# TYPE a histogram\na_bucket{le=\"+Inf\"} 2\na_count 2\n",
        ])
    func mistakes(_ text: String) {
        #expect(throws: PrometheusPage.Mistake.self) { try PrometheusPage(text) }
    }
}
