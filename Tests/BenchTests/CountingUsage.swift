// What a period cost, for each message: the arithmetic, and the names of the figures.
import Domain
import Testing

@testable import Bench

@Suite("Counting what a message costs", .timeLimit(.minutes(1)))
struct CountingUsage {
    private func reading(
        wal: Int64?, counted: Int64 = 0, images: Int64 = 0, _ tables: DatabaseReading.Table...
    ) -> DatabaseReading {
        DatabaseReading(
            walPosition: wal,
            walStatistics: .init(bytes: counted, fullPageImageCount: images, pageByteCount: 8192), tables: tables)
    }

    private func table(_ root: String, _ id: Int64, _ heap: Int64, _ indexes: Int64, _ toast: Int64 = 0)
        -> DatabaseReading.Table
    {
        .init(root: root, id: id, bytes: TableBytes(heap: heap, indexes: indexes, toast: toast))
    }

    private func text(_ value: JSONValue?) -> String? { value?.compactText.string }

    @Test("divides the WAL by the messages, and bounds its page images by the share that pg_stat_wal counted")
    func wal() {
        let growth = DatabaseGrowth(
            from: reading(wal: 1_000_000, counted: 900_000, images: 5),
            to: reading(wal: 3_000_000, counted: 1_900_000, images: 30))
        // 25 images of 8,192 bytes are 204,800 of the million bytes that were counted.
        #expect(text(growth.wal(per: 1000)) == #"{"all":2000.0,"full_page_images_max":409.6}"#)
    }

    @Test("never reports more bytes of page images than WAL: images are compressed")
    func compressedImages() {
        let growth = DatabaseGrowth(
            from: reading(wal: 0, counted: 0, images: 0), to: reading(wal: 100_000, counted: 80_000, images: 50))
        #expect(text(growth.wal(per: 100)) == #"{"all":1000.0,"full_page_images_max":1000.0}"#)
    }

    @Test("leaves page images out when the statistics were reset or counted nothing")
    func resetStatistics() {
        for counted in [Int64(5000), 4000] {
            let growth = DatabaseGrowth(
                from: reading(wal: 0, counted: 5000, images: 9), to: reading(wal: 100, counted: counted, images: 0))
            #expect(growth.imageShareMax == nil)
            #expect(text(growth.wal(per: 10)) == #"{"all":10.0}"#)
        }
    }

    @Test("adds up a table's partitions: a new one counts whole, and a dropped one does not count")
    func partitions() {
        let growth = DatabaseGrowth(
            from: reading(
                wal: nil, table("messages", 1, 8000, 4000, 100), table("events", 2, 900_000, 1000),
                table("events", 3, 10_000, 2000)),
            to: reading(
                wal: nil, table("messages", 1, 18_000, 6000, 400), table("events", 3, 14_000, 3000),
                table("events", 4, 6000, 1000)))
        #expect(
            text(growth.disk(per: 10)) == """
                {"messages":{"heap":1000.0,"indexes":200.0,"toast":30.0,"all":1230.0},\
                "events":{"heap":1000.0,"indexes":200.0,"toast":0.0,"all":1200.0}}
                """)
        #expect(growth.wal(per: 10) == nil)
    }

    @Test("leaves a table out if its size could not be read before or after")
    func unreadableTable() {
        let messages = table("messages", 1, 8000, 0)
        #expect(DatabaseGrowth(from: reading(wal: 0), to: reading(wal: 0, messages)).disk(per: 1) == nil)
        #expect(DatabaseGrowth(from: reading(wal: 0, messages), to: reading(wal: 0)).disk(per: 1) == nil)
    }

    @Test("sums rounds, of which some may lack a figure")
    func rounds() {
        let growth = DatabaseGrowth(
            from: reading(wal: 0, counted: 0, images: 0, table("messages", 1, 0, 0)),
            to: reading(wal: 40_000, counted: 40_960, images: 1, table("messages", 1, 8000, 2000)))
        let usage = Usage(
            cpu: CPUTimes(generator: 0.5, service: 1, postgres: 2), database: growth, notes: ["a"])
        let sum = Usage.sum([usage, usage, Usage(cpu: CPUTimes(generator: 1), notes: ["a", "b"])])
        #expect(
            text(.object(sum.figures(per: "message", 100_000, messageCount: 100_000))) == """
                {"cpu_us_per_message":{"generator":20.0,"service":20.0,"postgres":40.0},\
                "wal_bytes_per_message":{"all":0.8,"full_page_images_max":0.2},\
                "disk_bytes_per_message":{"messages":{"heap":0.2,"indexes":0.0,"toast":0.0,"all":0.2}}}
                """)
        #expect(sum.notes == ["a", "b"])
    }

    @Test("weights the mean batch of several rounds by their calls")
    func batches() {
        var first = Batching()
        first.items = Mean(sum: 300, count: 10)
        first.waitS = Mean(sum: 0.3, count: 300)
        first.callS = Mean(sum: 0.02, count: 10)
        var second = first
        second.items = Mean(sum: 100, count: 10)
        #expect(text((first + second).summary) == #"{"messages":20.0,"wait_ms":1.00,"call_ms":2.00}"#)
        #expect(Batching().summary == nil)
    }

    @Test("names figures by their unit, and has none per item of nothing")
    func names() {
        let usage = Usage(cpu: CPUTimes(generator: 1, service: nil, postgres: 2))
        #expect(
            text(.object(usage.figures(per: "delivery", 0, messageCount: nil, prefix: "parley_", suffix: "_with")))
                == #"{"parley_cpu_us_per_delivery_with":{"generator":null,"service":null,"postgres":null}}"#)
    }

    @Test("warns where too few messages fill too few pages, and where no page images were counted")
    func notes() {
        let tables = table("messages", 1, 0, 0)
        let usage = Usage(
            cpu: CPUTimes(generator: 0),
            database: DatabaseGrowth(from: reading(wal: 0, tables), to: reading(wal: 9, tables)), notes: ["first"])
        let notes = usage.notes(messageCount: 19_999)
        #expect(notes.first == "first" && notes.count == 3)
        #expect(notes.contains { $0.hasPrefix("disk_bytes_per_message is inexact: 19999 messages") })
        #expect(notes.contains { $0.hasPrefix("Full-page images are left out") })
        #expect(usage.notes(messageCount: 20_000).count == 2)
        #expect(usage.notes(messageCount: nil).count == 2)
    }
}

@Suite("Dealing threads to connections", .timeLimit(.minutes(1)))
struct DealingThreads {
    private func mix(connections: Int, threads: Int?, direct: Int) -> SendMix {
        var settings = BenchSettings(.send)
        settings.connectionCount = connections
        settings.threadCount = threads
        settings.directPercent = direct
        return SendMix(settings)
    }

    @Test("makes one direct thread of two connections unless told otherwise")
    func usual() {
        let mix = SendMix(BenchSettings(.send))
        #expect(mix.threadCount == 32 && mix.accountCount == 64)
        #expect((0..<32).allSatisfy { mix.isDirect($0) && mix.threads(of: $0) == [$0] })
        #expect(mix.members(of: 31) == [62, 63])
    }

    @Test("deals every thread to one pair of connections")
    func dealing() {
        let mix = mix(connections: 6, threads: 8, direct: 60)
        #expect((0..<3).map(mix.threads(of:)) == [[0, 3, 6], [1, 4, 7], [2, 5]])
        for pair in 0..<3 { #expect(mix.threads(of: pair).allSatisfy { mix.pair(of: $0) == pair }) }
    }

    @Test("spreads the direct threads evenly", arguments: [(0, 0), (60, 600), (33, 330), (100, 1000)])
    func share(percent: Int, count: Int) {
        let mix = mix(connections: 2, threads: 1000, direct: percent)
        #expect((0..<1000).filter(mix.isDirect).count == count)
        #expect(abs((0..<100).filter(mix.isDirect).count - percent) <= 1)
    }

    @Test("gives a group ten different members, or all there are, its two senders first")
    func groups() {
        #expect(mix(connections: 2, threads: 20, direct: 0).members(of: 19) == [38, 39] + Array(0..<8))
        #expect(mix(connections: 2, threads: 2, direct: 0).members(of: 1) == [2, 3, 0, 1])
        #expect(mix(connections: 2, threads: 1, direct: 0).members(of: 0) == [0, 1])
    }
}
