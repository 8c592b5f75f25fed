// A statement and the name under which it is prepared. `PipelinedConnection` sends it.

/// A statement with a stable name, prepared on each connection at its first use there. The server infers the types of
/// its parameters from the SQL: from the functions that it calls, and from casts where there is no function.
package struct Statement: Sendable, Hashable {
    package let name: String
    package let sql: String
    /// The name on the server. It contains a digest of the SQL, so that two releases behind one transaction pooler
    /// never run each other's statement of the same name.
    let serverName: String
    private let digest: UInt64

    package init(_ name: String, _ sql: String) {
        self.name = name
        self.sql = sql
        // FNV-1a is stable across processes; Swift's own hashing is not.
        var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in sql.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        self.digest = digest
        // PostgreSQL does not truncate statement names, but poolers and logs prefer short ones.
        serverName = "\(name.prefix(40))_\(String(digest, radix: 16))"
    }

    package static func == (left: Statement, right: Statement) -> Bool {
        left.digest == right.digest && left.name == right.name && left.sql == right.sql
    }

    package func hash(into hasher: inout Hasher) {
        // The digest stands for the SQL, which is long and would be hashed at each use.
        hasher.combine(digest)
    }
}
