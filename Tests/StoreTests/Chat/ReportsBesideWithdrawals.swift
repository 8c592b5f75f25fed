// A report that is made while the content of its message is being withdrawn.
import TestSupport
import Testing

@Suite("Reports during withdrawals", .timeLimit(.minutes(1)))
struct ReportsBesideWithdrawals {
    private static let id = "'00000000-0000-0000-0000-00000000000a'"
    /// A thread with one message whose time is over.
    private static let thread = """
        insert into users (id, name, created_at) values (\(id), 'Ann', now());
        insert into threads (id, kind, title, created_at) values (\(id), 'group', 'T', now());
        insert into members (thread_id, user_id, role, status, joined_at) values (\(id), \(id), 'owner', 'joined', now());
        insert into messages (thread_id, seq, id, sender_id, type, payload, created_at, expires_at, pos)
        values (\(id), 1, \(id), \(id), 'message', '{"text":"secret"}', now() - interval '1 hour', now() - interval '1 s', 0);
        insert into message_expiries (thread_id, seq, expires_at) values (\(id), 1, now() - interval '1 s');
        """

    @Test("copy nothing that is gone when the withdrawal commits")
    func expiry() async throws {
        let database = try await MigratedDatabase.create()
        _ = try await Psql.run(Self.thread, conninfo: database)
        async let expiring = Psql.run(
            "begin; select retention_expire(10); \(Psql.sleep) commit;", conninfo: database)
        #expect(try await Psql.isAsleep(in: database))
        async let reporting = try? Psql.run(
            "select report from report_create(gen_random_uuid(), \(Self.id), \(Self.id), \(Self.id), null, 'x')",
            conninfo: database)
        #expect(try await Psql.isBlocked(in: database))
        try await Psql.wake(in: database)
        _ = try await expiring
        #expect(await reporting == nil)
        #expect(try await Psql.run("select count(*) from reports", conninfo: database) == "0")
    }
}
