// What a measured period cost, in total and for each message, delivery or call.
import Domain

/// Processor time, batches, WAL and growth of tables in a period.
struct Usage: Sendable {
    var cpu: CPUTimes
    var batching = Batching()
    var database = DatabaseGrowth()
    /// Why figures are missing, in sentences.
    var notes: [String] = []

    /// Sums rounds. Notes of later rounds that are not new are dropped.
    static func + (left: Usage, right: Usage) -> Usage {
        Usage(
            cpu: left.cpu + right.cpu, batching: left.batching + right.batching,
            database: left.database + right.database,
            notes: left.notes + right.notes.filter { !left.notes.contains($0) })
    }

    static func sum(_ all: [Usage]) -> Usage { all.reduce(Usage(cpu: CPUTimes(generator: 0)), +) }

    /// The figures of a report, all named in the same way. Figures that are not known are left out.
    /// - Parameters:
    ///   - unit: "message", "delivery" or "call", of which there were `count`.
    ///   - messageCount: messages stored in the period; nil to leave out figures about messages.
    ///   - prefix: comes before the names, and `suffix` after them.
    func figures(
        per unit: String, _ count: Int, messageCount: Int?, prefix: String = "", suffix: String = ""
    ) -> [JSONValue.Member] {
        var found: [(name: String, value: JSONValue?)] = [
            ("cpu_us_per_\(unit)", cpu.micros(per: count)), ("wal_bytes_per_\(unit)", database.wal(per: count)),
        ]
        if let messageCount {
            found.append(("disk_bytes_per_message", database.disk(per: messageCount)))
            found.append(("batch_mean", batching.summary))
        }
        return found.compactMap { name, value in value.map { .init(prefix + name + suffix, $0) } }
    }

    /// What a reader of the figures must know: what is missing, and what is inexact.
    func notes(messageCount: Int?) -> [String] {
        var notes = notes
        if database.walBytes != nil, database.imageShareMax == nil {
            notes.append("Full-page images are left out: pg_stat_wal counted no WAL in this period.")
        }
        if let messageCount, !database.tables.isEmpty, messageCount < DatabaseGrowth.messageCountMin {
            notes.append(
                "disk_bytes_per_message is inexact: \(messageCount) messages fill few pages; measure "
                    + "\(DatabaseGrowth.messageCountMin) or more.")
        }
        return notes
    }
}
