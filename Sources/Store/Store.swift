// The database as the rest of the service sees it: one method for each SQL function, one file for each feature.
import Domain
import FoundationEssentials
import Postgres

/// Calls the database's functions. Every method throws `Problem` or `CancellationError` and nothing else.
/// A method that changes something is one function call, which commits or fails whole.
package struct Store: QueryRunner {
    /// `DatabasePools` says what each pool is for.
    let log: Pool
    let changes: Pool
    let reads: Pool
    /// As `reads`, on the replica if there is one and it has replayed enough: for the history of threads, search, member
    /// lists and exports of accounts.
    let replica: ReplicaReads
    let fileWrites: Pool
    let fileReads: Pool
    let imports: Pool

    package init(_ pools: DatabasePools) {
        log = Pool(pools.log)
        changes = Pool(pools.changes)
        reads = Pool(pools.reads, isForReads: true)
        replica = ReplicaReads(primary: reads, pools.replica)
        fileWrites = Pool(pools.fileWrites)
        fileReads = Pool(pools.fileReads, isForReads: true)
        imports = Pool(pools.imports)
    }

    /// Uses one pool for everything: for commands that call the database a few times, and for tests.
    package init(_ client: PostgresClient) {
        log = Pool(client)
        changes = Pool(client)
        reads = Pool(client, isForReads: true)
        replica = ReplicaReads(primary: reads, nil)
        fileWrites = Pool(client)
        fileReads = Pool(client, isForReads: true)
        imports = Pool(client)
    }

    /// A query that names no pool uses `changes`. A read that forgets `reads` only has a longer timeout.
    func rows(_ query: some Query, _ parameters: [Parameter]) async throws -> Rows {
        try await changes.rows(query, parameters)
    }

    /// Changes that run to their end even if the task is cancelled.
    var finishing: FinishingRunner { FinishingRunner(client: changes.client) }
}

extension Row {
    func json(_ column: Int) throws -> JSONText { JSONText(utf8: try bytes(column)) }
}

extension Parameter {
    static func text(orNull text: String?) -> Parameter { text.map(Parameter.text) ?? .null }
    /// SQL's `int`, which has 32 bits.
    static func int(_ value: Int) -> Parameter { .int4(Int32(value)) }
    static func int4(orNull value: Int32?) -> Parameter { value.map(Parameter.int4) ?? .null }
    static func int8(orNull value: Int64?) -> Parameter { value.map(Parameter.int8) ?? .null }
    static func uuid(orNull uuid: UUID?) -> Parameter { uuid.map(Parameter.uuid) ?? .null }
    static func id<Kind>(_ id: Identifier<Kind>) -> Parameter { .uuid(id.uuid) }
    static func ids<Kind>(_ ids: [Identifier<Kind>]) -> Parameter { .uuids(ids.map(\.uuid)) }
    static func json(_ text: JSONText) -> Parameter { .json(text.utf8) }
    static func texts(orNull texts: [String]?) -> Parameter { texts.map { .texts($0) } ?? .null }
    static func bytes(orNull bytes: [UInt8]?) -> Parameter { bytes.map(Parameter.bytes) ?? .null }
    static func bool(orNull value: Bool?) -> Parameter { value.map(Parameter.bool) ?? .null }
    static func timestamp(orNull time: Timestamp?) -> Parameter {
        time.map { .timestamp(microsSince1970: $0.microsSince1970) } ?? .null
    }
}
