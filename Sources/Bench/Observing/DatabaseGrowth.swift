// What PostgreSQL writes and stores in a period: WAL, and the sizes of the tables of messages and events.
import Domain

/// PostgreSQL's counters at one point in time. A counter that could not be read is nil or missing.
struct DatabaseReading: Sendable {
    /// How WAL is counted by `pg_stat_wal`. Sessions add to it once a second, so it is behind the position.
    struct WALStatistics: Sendable {
        var bytes: Int64
        var fullPageImageCount: Int64
        var pageByteCount: Int64
    }

    /// One table: all of `messages`, or a partition of `events`.
    struct Table: Sendable {
        var root: String
        var id: Int64
        var bytes: TableBytes
    }

    /// Bytes of WAL since the cluster was created.
    var walPosition: Int64?
    var walStatistics: WALStatistics?
    var tables: [Table] = []
    /// Why figures are missing, in sentences.
    var notes: [String] = []
}

/// The size of a table on disk. The heap includes its maps of free space and visibility.
struct TableBytes: Sendable, Equatable {
    var heap: Int64 = 0
    var indexes: Int64 = 0
    var toast: Int64 = 0

    var all: Int64 { heap + indexes + toast }

    static func + (left: TableBytes, right: TableBytes) -> TableBytes {
        TableBytes(
            heap: left.heap + right.heap, indexes: left.indexes + right.indexes, toast: left.toast + right.toast)
    }

    static func - (left: TableBytes, right: TableBytes) -> TableBytes {
        TableBytes(
            heap: left.heap - right.heap, indexes: left.indexes - right.indexes, toast: left.toast - right.toast)
    }
}

/// How the counters grew.
struct DatabaseGrowth: Sendable, Equatable {
    /// Fewer messages fill so few pages that the growth of tables is not proportional to them.
    static let messageCountMin = 20_000

    /// WAL of the whole cluster; nil if its position could not be read.
    private(set) var walBytes: Int64?
    /// The part of the WAL that `pg_stat_wal` counted in the period, and an upper bound of the page images in it.
    private(set) var countedWALBytes: Int64 = 0
    private(set) var countedImageBytesMax: Int64 = 0
    /// By the table's name, with all its partitions.
    private(set) var tables: [String: TableBytes] = [:]

    init() {}

    /// A partition that was dropped does not count, and a new one counts whole.
    init(from earlier: DatabaseReading, to later: DatabaseReading) {
        if let from = earlier.walPosition, let to = later.walPosition { walBytes = to - from }
        if let from = earlier.walStatistics, let to = later.walStatistics, to.bytes > from.bytes {
            // Otherwise the statistics were reset, or nothing was counted.
            countedWALBytes = to.bytes - from.bytes
            let imageCount = max(0, to.fullPageImageCount - from.fullPageImageCount)
            countedImageBytesMax = min(countedWALBytes, imageCount * to.pageByteCount)
        }
        let before = Dictionary(earlier.tables.map { ($0.id, $0.bytes) }) { first, _ in first }
        for table in later.tables where earlier.tables.contains(where: { $0.root == table.root }) {
            tables[table.root, default: TableBytes()] =
                tables[table.root, default: TableBytes()] + (table.bytes - (before[table.id] ?? TableBytes()))
        }
    }

    static func + (left: DatabaseGrowth, right: DatabaseGrowth) -> DatabaseGrowth {
        var sum = left
        if left.walBytes != nil || right.walBytes != nil { sum.walBytes = (left.walBytes ?? 0) + (right.walBytes ?? 0) }
        sum.countedWALBytes += right.countedWALBytes
        sum.countedImageBytesMax += right.countedImageBytesMax
        sum.tables.merge(right.tables) { $0 + $1 }
        return sum
    }

    /// The largest share of the WAL that may be full-page images, from 0 to 1; nil if none of the WAL was counted.
    var imageShareMax: Double? {
        countedWALBytes == 0 ? nil : Double(countedImageBytesMax) / Double(countedWALBytes)
    }

    /// Bytes of WAL for each of `count` items; nil if they are not known.
    func wal(per count: Int) -> JSONValue? {
        guard let walBytes else { return nil }
        let each = Double(walBytes) / Double(count)
        var members: [JSONValue.Member] = [.init("all", .decimal(each, 1))]
        if let imageShareMax { members.append(.init("full_page_images_max", .decimal(each * imageShareMax, 1))) }
        return .object(members)
    }

    /// Bytes on disk for each of `messageCount` messages, by table; nil if they are not known.
    func disk(per messageCount: Int) -> JSONValue? {
        guard !tables.isEmpty else { return nil }
        func each(_ bytes: Int64) -> JSONValue { .decimal(Double(bytes) / Double(messageCount), 1) }
        return .object(
            DatabaseReader.tables.compactMap { name in
                tables[name].map { bytes in
                    .init(
                        name,
                        .object([
                            .init("heap", each(bytes.heap)), .init("indexes", each(bytes.indexes)),
                            .init("toast", each(bytes.toast)), .init("all", each(bytes.all)),
                        ]))
                }
            })
    }
}
