// Reads PostgreSQL's counters. A counter that the server or the role does not allow is left out, with a note.
import Logging
import Postgres

/// A session for reading counters, which stays open so that connecting is not part of what is measured.
struct DatabaseReader: Sendable {
    static let tables = ["messages", "events"]

    private let client: PostgresClient

    init(conninfo: String) {
        var settings = PostgresSettings(conninfo: conninfo, applicationName: "parley-bench")
        settings.connectionCountMax = 1
        client = PostgresClient(settings, logger: Logger(label: "bench"))
    }

    func close() async { await client.shutdown() }

    /// Some milliseconds, the WAL's position first.
    /// - Throws: `CancellationError` only.
    func read() async throws -> DatabaseReading {
        var reading = DatabaseReading()
        try await note("WAL", in: &reading) { reading in
            reading.walPosition = try await client.query(Self.walPosition).first?.int8OrNull(0)
        }
        try await note("Full-page images", in: &reading) { reading in
            guard let row = try await client.query(Self.walStatistics).first else { return }
            reading.walStatistics = .init(
                bytes: try row.int8(0), fullPageImageCount: try row.int8(1), pageByteCount: try row.int8(2))
        }
        try await note("Disk", in: &reading) { reading in
            reading.tables = try await client.query(Self.sizes, [.texts(Self.tables)]).map { row in
                .init(
                    root: try row.text(0), id: try row.int8(1),
                    bytes: TableBytes(heap: try row.int8(2), indexes: try row.int8(3), toast: try row.int8(4)))
            }
            for name in Self.tables where !reading.tables.contains(where: { $0.root == name }) {
                reading.notes.append("Disk: the table \(name) is left out (the role of --database does not see it).")
            }
        }
        return reading
    }

    private func note(
        _ what: String, in reading: inout DatabaseReading, _ body: (inout DatabaseReading) async throws -> Void
    ) async throws {
        do {
            try await body(&reading)
        } catch let error as PostgresError {
            reading.notes.append("\(what): left out (\(error)).")
        }
    }

    private static let walPosition = Statement(
        "bench_wal_position", "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::int8")

    private static let walStatistics = Statement(
        "bench_wal_statistics",
        "select s.wal_bytes::int8, s.wal_fpi::int8, current_setting('block_size')::int8 from pg_stat_wal s")

    /// A partition that is dropped meanwhile has no size.
    private static let sizes = Statement(
        "bench_sizes",
        """
        with recursive parts (root, id) as (
            select n.name, to_regclass(n.name)::oid
            from unnest($1::text[]) n (name)
            where to_regclass(n.name) is not null
            union all
            select p.root, i.inhrelid
            from parts p
            join pg_inherits i on i.inhparent = p.id
        ), sizes as (
            select p.root, p.id, pg_table_size(p.id) as with_toast, pg_indexes_size(p.id) as indexes,
                coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0) as toast
            from parts p
            join pg_class c on c.oid = p.id
            where c.relkind <> 'p'
        )
        select s.root, s.id::int8, (s.with_toast - s.toast)::int8, s.indexes::int8, s.toast::int8
        from sizes s
        where s.with_toast is not null and s.indexes is not null
        """)
}
