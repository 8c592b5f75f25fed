// Outboxes in databases of other programs: reading their rows, handling them in Parley's database, and settling them.
import Domain
import Logging
import Postgres

/// A row of an outbox in another database.
package struct OutboxRow: Sendable {
    package enum Kind: String, Sendable {
        case send
        case addMember = "add_member"
        case ensureDirect = "ensure_direct"
    }

    package var seq: Int64
    package var kind: Kind
    package var thread: ThreadID
    package var user: UserID
    package var other: UserID?
    package var message: MessageID?
    /// As the other database stores it: not checked by Parley yet.
    package var payload: JSONText?
    package var attachments: [AttachmentID] = []
}

/// Why a row was refused: a problem code, and a sentence.
package struct OutboxRefusal: Sendable, Equatable {
    package var seq: Int64
    package var code: String
    package var detail: String
    package init(seq: Int64, _ problem: Problem) {
        self.init(seq: seq, code: problem.code.rawValue, detail: problem.description)
    }

    init(seq: Int64, code: String, detail: String) {
        self.seq = seq
        self.code = code
        self.detail = detail
    }
}

extension Store {
    /// Handles rows in their order: messages only, or one row of another kind. Messages that are stored already change
    /// nothing, so a node may repeat the call. Returns the rows that are refused.
    package func applyOutbox(_ rows: [OutboxRow], limits: Limits) async throws -> [OutboxRefusal] {
        let answer: Rows
        do {
            answer = try await self.rows(
                "outbox_apply",
                [
                    .texts(rows.map(\.kind.rawValue)), .ids(rows.map(\.thread)), .ids(rows.map(\.user)),
                    .uuids(rows.map { $0.other?.uuid }), .uuids(rows.map { $0.message?.uuid }),
                    .jsons(rows.map { $0.payload?.utf8 }),
                    .texts(rows.map { $0.attachments.isEmpty ? nil : Self.arrayLiteral($0.attachments) }),
                ] + Self.memberLimits(limits))
        } catch let problem as Problem {
            switch problem.code {
            case .overloaded, .unavailable: throw problem
            default: break
            }
            guard rows.count == 1 else {
                // One of them is guilty: alone, each has an outcome of its own.
                var refusals: [OutboxRefusal] = []
                for row in rows { refusals += try await applyOutbox([row], limits: limits) }
                return refusals
            }
            return [OutboxRefusal(seq: rows[0].seq, problem)]
        }
        return try await decoded {
            try answer.map { row in
                OutboxRefusal(
                    seq: rows[Int(try row.int4(0)) - 1].seq, code: try row.text(1), detail: try row.text(2))
            }
        }
    }
}

/// The outbox in a database of another program.
package struct OutboxDatabase: Sendable {
    private let client: PostgresClient
    /// The name of this node in the lease.
    private let node: String

    /// - Parameter conninfo: a libpq connection string.
    package init(conninfo: String, node: String, logger: Logger) {
        var settings = PostgresSettings(conninfo: conninfo, applicationName: "parley-outbox")
        settings.connectionCountMax = 1
        settings.waitMax = .seconds(2)
        self.node = node
        client = PostgresClient(settings, logger: logger)
    }

    /// Claims the outbox, or extends the claim of this node. Returns the next rows in their order, none while another
    /// node has the claim. Throws `PostgresError` or `CancellationError`, as all methods here.
    package func read(limit: Int, leaseSeconds: Int, limits: Limits) async throws -> [OutboxRow] {
        let rows = try await client.query(
            Statement(
                "outbox_read",
                """
                select seq, kind, thread_id, user_id, other_id, message_id, payload, coalesce(attachments, '{}')
                from parley.outbox_read($1, $2, $3, $4, $5) order by seq
                """), [.text(node), .int(limit), .int(leaseSeconds)] + Store.sizeLimits(limits))
        return try rows.map { row in
            guard let kind = OutboxRow.Kind(rawValue: try row.text(1)) else {
                throw PostgresError.decoding("an unknown kind of row in the outbox")
            }
            return OutboxRow(
                seq: try row.int8(0), kind: kind, thread: ThreadID(try row.uuid(2)), user: UserID(try row.uuid(3)),
                other: try row.uuidOrNull(4).map { UserID($0) }, message: try row.uuidOrNull(5).map { MessageID($0) },
                payload: try row.bytesOrNull(6).map { JSONText(utf8: $0) },
                attachments: try row.uuids(7).map { AttachmentID($0) })
        }
    }

    /// Deletes rows that were handled, and makes failures of those that were refused.
    package func settle(_ rows: [OutboxRow], refused: [OutboxRefusal]) async throws {
        _ = try await client.query(
            Statement("outbox_settle", "select parley.outbox_settle($1, $2, $3, $4)"),
            [
                .int8s(rows.map(\.seq)), .int8s(refused.map(\.seq)), .texts(refused.map(\.code)),
                .texts(refused.map(\.detail)),
            ])
    }

    package func shutdown() async { await client.shutdown() }
}

/// Makes the outbox in a database of another program.
package enum OutboxInstallation {
    package enum Result: Sendable, Equatable {
        case installed
        /// The database is Parley's own, which has the outbox: only the role and its rights were added.
        case roleAdded
    }

    /// Creates the schema `parley`, or brings it up to date. The user needs the right to create schemas and roles.
    /// Throws `PostgresError`, `CancellationError`.
    package static func run(conninfo: String, logger: Logger) async throws -> Result {
        let settings = PostgresSettings(conninfo: conninfo, applicationName: "parley-outbox")
        return try await DedicatedSession.run(settings, answerMax: .seconds(60), logger: logger) { session in
            let isParleys =
                try session.query(
                    """
                    select to_regprocedure('parley.send(uuid, uuid, jsonb, uuid)') is not null
                        and to_regclass('parley.outbox_lease') is null
                    """
                ).first?.bool(0) ?? false
            try session.run(isParleys ? grant : script)
            return isParleys ? .roleAdded : .installed
        }
    }

    private static let grant = "select parley.outbox_grant();"

    private static var script: String {
        """
        begin;
        select pg_advisory_xact_lock(7266011);
        set local check_function_bodies = off;
        set local search_path = parley, pg_temp;

        """ + text("0002_outbox.sql", in: EmbeddedSQL.migrations)
            + text("outbox/outbox_shape.sql", in: EmbeddedSQL.functions)
            + text("install.sql", in: EmbeddedSQL.outbox) + grant + "commit;"
    }

    private static func text(_ name: String, in files: [(name: String, text: String)]) -> String {
        files.first { $0.name == name }?.text ?? ""
    }
}
