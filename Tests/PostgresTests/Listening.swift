// The listener against a real server: notifications, terminated connections, restarts, heartbeats.

import Glibc
import TestSupport
import Testing

@testable import Postgres

@Suite("The listener", .timeLimit(.minutes(1)))
struct Listening {
    /// Runs a listener on `channel` while `body` reads its events.
    func withListener(
        _ conninfo: String, timing: ListenerState.Timing = .init(),
        _ body: @escaping @Sendable (Events) async throws -> Void
    ) async throws {
        let settings = PostgresSettings(conninfo: conninfo, applicationName: "parley-listen")
        let listener = PostgresListener(settings, channel: "Test \"channel\"", logger: .quiet, timing: timing)
        let (stream, continuation) = AsyncStream.makeStream(of: PostgresListener.Event.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await listener.run { continuation.yield($0) } }
            try await bounded { try await body(Events(stream: stream)) }
            group.cancelAll()
        }
    }

    struct Events: Sendable {
        let stream: AsyncStream<PostgresListener.Event>

        func next() async throws -> PostgresListener.Event {
            var iterator = stream.makeAsyncIterator()
            guard let event = await iterator.next() else { throw TookTooLong() }
            return event
        }

        /// Expects the next event to report a lost connection, for any reason.
        func nextIsDisconnected() async throws -> Bool {
            if case .disconnected = try await next() { return true }
            return false
        }
    }

    static let notify = Statement("notify", "select pg_notify('Test \"channel\"', $1::text)")

    @Test("is connected, then receives each notification in order")
    func hears() async throws {
        let conninfo = try await TestCluster.shared().createDatabase()
        try await withListener(conninfo) { events in
            #expect(try await events.next() == .connected)
            try await withClient(connections: 1, conninfo: conninfo) { client in
                for number in 0..<100 { _ = try await client.query(Self.notify, [.text("\(number)")]) }
            }
            for number in 0..<100 { #expect(try await events.next() == .notification(payload: "\(number)")) }
        }
    }

    @Test("reconnects when its connection is terminated, and reports it each time")
    func reconnects() async throws {
        let cluster = try await TestCluster.shared()
        let conninfo = try await cluster.createDatabase()
        try await withListener(conninfo) { events in
            for round in 0..<3 {
                #expect(try await events.next() == .connected)
                try await withClient(connections: 1, conninfo: conninfo) { client in
                    _ = try await client.query(Self.notify, [.text("\(round)")])
                    #expect(try await events.next() == .notification(payload: "\(round)"))
                    try await cluster.psql(
                        """
                        select pg_terminate_backend(pid) from pg_stat_activity
                        where application_name = 'parley-listen' and datname = current_database()
                        """, database: conninfo)
                }
                #expect(try await events.nextIsDisconnected())
            }
            #expect(try await events.next() == .connected)
        }
    }

    @Test("comes back when the server crashed and starts again")
    func survivesRestart() async throws {
        let cluster = try await TestCluster.own()
        let conninfo = try await cluster.createDatabase()
        try await withListener(conninfo) { events in
            #expect(try await events.next() == .connected)
            await cluster.stop(.immediate)
            #expect(try await events.nextIsDisconnected())
            try await cluster.start()
            #expect(try await events.next() == .connected)
            try await withClient(connections: 1, conninfo: conninfo) { client in
                _ = try await client.query(Self.notify, [.text("back")])
            }
            #expect(try await events.next() == .notification(payload: "back"))
        }
        await cluster.close()
    }

    @Test("stays connected over many heartbeats, and reconnects when one is not answered")
    func heartbeats() async throws {
        let conninfo = try await TestCluster.shared().createDatabase()
        let timing = ListenerState.Timing(heartbeatInterval: .milliseconds(20), answerMax: .milliseconds(500))
        try await withListener(conninfo, timing: timing) { events in
            #expect(try await events.next() == .connected)
            let look = """
                select pid, query_start from pg_stat_activity
                where application_name = 'parley-listen' and datname = current_database()
                """
            var processID: pid_t = 0
            try await withClient(connections: 1, conninfo: conninfo) { client in
                processID = try await client.run(look).first?.int4(0) ?? 0
                for _ in 0..<5 {
                    let before = try await client.run(look).first?.timestamp(1)
                    try await eventually("another heartbeat") {
                        try await client.run(look).first?.timestamp(1) != before
                    }
                }
                _ = try await client.query(Self.notify, [.text("still here")])
            }
            #expect(try await events.next() == .notification(payload: "still here"), "and nothing in between")
            kill(processID, SIGSTOP)
            defer { kill(processID, SIGCONT) }
            #expect(try await events.next() == .disconnected(reason: "no answer to the heartbeat"))
            #expect(try await events.next() == .connected)
        }
    }

    @Test("logs a server that is down once, not with each try")
    func logsOnce() async throws {
        let (socket, port) = try Sockets.listener()
        defer { close(socket) }
        let lines = LogLines()
        let settings = PostgresSettings(
            conninfo: "host=127.0.0.1 port=\(port) sslmode=disable gssencmode=disable", applicationName: "parley-listen"
        )
        let listener = PostgresListener(settings, channel: "x", logger: lines.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await listener.run { _ in } }
            // Accepts and closes three connections, so that three tries fail.
            try await bounded {
                for _ in 0..<3 {
                    try await eventually("a try") {
                        var poll = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
                        guard Glibc.poll(&poll, 1, 0) == 1 else { return false }
                        return close(accept(socket, nil, nil)) == 0
                    }
                }
            }
            group.cancelAll()
        }
        let logged = lines.all.filter { $0.contains("listening for notifications") }
        #expect(logged.count == 1 && logged[0].hasPrefix("warning: not listening"), "\(lines.all)")
    }

    @Test("ends soon when its task is cancelled, also while the server is down")
    func ends() async throws {
        for conninfo in [try await TestCluster.shared().createDatabase(), "host=127.0.0.1 port=1"] {
            let settings = PostgresSettings(conninfo: conninfo, applicationName: "parley-listen")
            let listener = PostgresListener(settings, channel: "x", logger: .quiet)
            let task = Task { try await listener.run { _ in } }
            task.cancel()
            try await bounded(.seconds(5)) { try await task.value }
        }
    }
}
