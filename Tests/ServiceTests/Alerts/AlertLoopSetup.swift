// A loop to APNs as a process of the test, on a database with due alerts.
import Domain
import Foundation
import Outbound
import Postgres
import Push
import ServiceConfiguration
import Store
import TestSupport
import Testing

@testable import Service

struct AlertLoopSetup {
    let sinks: PushSinks
    let database: String
    let store: Store
    let loop: AlertLoop
    let metrics = AlertMetrics.Loop()
    let lines = LogLines()
    private let client: PostgresClient

    /// - Parameter count: devices, each with one alert.
    init(alerts count: Int) async throws {
        sinks = try await PushSinks.start()
        database = try await MigratedDatabase.create()
        try await Psql.run(Self.alerts(count), conninfo: database)
        client = PostgresClient(test: database, logger: lines.logger)
        store = Store(client)
        let settings = try Settings.load(arguments: [], environment: sinks.settings)
        let sender = try #require(try AlertSender.configured(settings, keys: VAPIDKeyPair.make())[.apns])
        loop = AlertLoop(
            .apns, sender, store: store,
            outbound: try Outbound(
                caFile: settings.caFile, allowPrivate: true,
                connectionsPerHostMax: settings.pushConnectionCountMax, inFlightMax: 256),
            limits: AlertLoop.Limits(lifeSeconds: 3_600), metrics: metrics, logger: lines.logger)
    }

    /// Runs the loop while `body` does. Returns after the loop's end.
    func running(closeMax: Duration = .milliseconds(300), _ body: () async throws -> Void) async throws {
        let running = Task { [loop] in await loop.run(closeMax: closeMax) }
        // As the dispatcher does, more often.
        let ticking = Task { [loop] in
            while !Task.isCancelled {
                loop.wake()
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        try await lines.shown(at: body) {
            ticking.cancel()
            running.cancel()
            await running.value
            await client.shutdown()
        }
    }

    func query(_ sql: String) async throws -> String {
        try await Psql.run(sql, conninfo: database)
    }

    private static func alerts(_ count: Int) -> String {
        """
        insert into users (id, username, username_key, name, created_at) select
            ('00000000-0000-0000-0000-00000000000' || n)::uuid, 'u' || n, 'u' || n, 'User ' || n, now()
            from generate_series(1, 2) n;
        select from thread_create('00000000-0000-0000-0000-00000000000f', 'group', 'g', null,
            '00000000-0000-0000-0000-000000000001', '{00000000-0000-0000-0000-000000000002}', false);
        select from message_append(array['00000000-0000-0000-0002-000000000001'::uuid],
            array['00000000-0000-0000-0000-00000000000f'::uuid], array['00000000-0000-0000-0000-000000000001'::uuid],
            array['message'], array['{"text":"hi"}'::json], array[null::uuid], array['{}']);
        insert into push_targets (session_id, user_id, platform, token, token_digest, environment, registered_at, decided_pos)
        select ('00000000-0000-0000-0001-00000000000' || n)::uuid, '00000000-0000-0000-0000-000000000002', 'apns',
            repeat('ab', 31) || '0' || n, convert_to('digest ' || n, 'UTF8'), 'production', now(), 0
        from generate_series(1, \(count)) n;
        insert into push_jobs (session_id, pos, id, platform, thread_id, seq, at, due_at)
        select t.session_id, m.pos, gen_random_uuid(), 'apns', m.thread_id, m.seq, now(), now()
        from messages m, push_targets t where m.type = 'message';
        """
    }
}
