// The client against a real server: answers, errors, cancellation, shutdown. Broken servers are in `LossTests`.

import Logging
import Postgres
import TestSupport
import Testing

@Suite("The client", .timeLimit(.minutes(1)))
struct Queries {
    @Test("returns to each of a hundred concurrent callers its own answer, over two connections")
    func pipelines() async throws {
        try await withClient { client in
            let echo = Statement("echo", "select $1::int4, pg_sleep($2::int4 / 1000.0)::text")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 as Range<Int32> {
                    group.addTask {
                        let rows = try await client.query(echo, [.int4(number), .int4(number % 3)])
                        #expect(try rows.first?.int4(0) == number)
                    }
                }
                try await group.waitForAll()
            }
            // The second connection may still be opening.
            try await eventually("the second connection is open") { client.statistics.connectionCount == 2 }
            #expect(client.statistics.inFlightCount == 0)
            #expect(client.statistics.totals.statementCount == 100)
        }
    }

    @Test("keeps an error to its statement, also in the middle of a pipeline")
    func isolatesErrors() async throws {
        try await withClient(connections: 1) { client in
            try await client.run("create table numbers (number int4 primary key check (number <> 13))")
            let insert = Statement("insert", "insert into numbers values ($1::int4)")
            let failures = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<50 as Range<Int32> {
                    group.addTask {
                        do {
                            _ = try await client.query(insert, [.int4(number % 45)])
                            return 0
                        } catch PostgresError.server(let error) {
                            let isCheck = error.sqlState == "23514" && error.constraint == "numbers_number_check"
                            #expect(isCheck || error.sqlState == "23505")
                            return 1
                        }
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(failures == 6, "number 13, and five numbers twice")
            #expect(try await client.run("select count(*) from numbers").first?.int8(0) == 44)
        }
    }

    @Test("keeps an error of preparing to its statement, and prepares it once it can be")
    func failsToPrepare() async throws {
        try await withClient(connections: 1) { client in
            let select = Statement("later", "select number from later")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        guard number % 2 == 0 else { return _ = try await client.run("select 1") }
                        await #expect(throws: PostgresError.self) { try await client.query(select) }
                    }
                }
                try await group.waitForAll()
            }
            do {
                _ = try await client.query(select)
            } catch PostgresError.server(let error) {
                #expect(error.sqlState == "42P01")
            }
            try await client.run("create table later (number int4)")
            #expect(try await client.query(select).isEmpty)
        }
    }

    @Test("prepares again a statement that vanished or was outdated by a new column")
    func preparesAgain() async throws {
        try await withClient(connections: 1) { client in
            try await client.run("create table wide as select 1::int4 as a")
            let select = Statement("wide", "select * from wide")
            #expect(try await client.query(select).first?.int4(0) == 1)
            try await client.run("deallocate all")
            #expect(try await client.query(select).first?.int4(0) == 1)
            try await client.run("alter table wide add column b int4 default 2")
            #expect(try await client.query(select).first?.int4(1) == 2)
            try await client.run("alter table wide add column c int4 default 3")
            #expect(try await client.query(select).first?.int4(2) == 3)
            #expect(client.statistics.totals.serverErrorCount == 0)
        }
    }

    @Test("works without prepared statements, for old poolers")
    func runsUnprepared() async throws {
        try await withClient({ $0.preparation = .never }) { client async throws in
            #expect(try await client.run("select $1::text", [.text("x")]).first?.text(0) == "x")
            #expect(try await client.run("select count(*) from pg_prepared_statements").first?.int8(0) == 0)
        }
    }

    @Test("sets time-outs, time zone and name on each connection")
    func setsSession() async throws {
        try await withClient({ $0.statementTimeout = .milliseconds(1500) }) { client in
            let names = [
                "lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout", "TimeZone",
                "enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit",
            ]
            let wanted = ["1min", "1500ms", "10s", "UTC", "off", "off", "off", "off"]
            for (name, value) in zip(names, wanted) {
                let setting = try await client.run("select current_setting($1::text)", [.text(name)])
                #expect(try setting.first?.text(0) == value)
            }
            // The test's connection is not TCP, so the values cannot be read, only that they are set.
            let keepalives = try await client.run(
                "select name from pg_settings where source = 'session' and name like 'tcp%' order by 1")
            #expect(try keepalives.count == 4 && keepalives.last?.text(0) == "tcp_user_timeout")
            #expect(try await client.run("select current_setting('application_name')").first?.text(0) == "parley-test")
            #expect(try await client.run("select current_setting('client_encoding')").first?.text(0) == "UTF8")
            await #expect(throws: PostgresError.self) { try await client.run("select pg_sleep(10)") }
        }
    }

    @Test("throws at once when the task was cancelled while its statement waited, which never runs")
    func cancelsWaiting() async throws {
        let conninfo = try await TestCluster.shared().createDatabase()
        try await withClient(connections: 1, conninfo: conninfo, { $0.inFlightPerConnectionMax = 1 }) { client in
            try await client.run("create table marks (mark int4)")
            try await Gate.closed(conninfo) { gate in
                async let slow = client.run(Gate.pass)
                try await eventually("a statement is in flight") { client.statistics.inFlightCount == 1 }
                let waiting = Task { try await client.run("insert into marks values (1)") }
                try await eventually("a statement waits") { client.statistics.waitingCount == 1 }
                waiting.cancel()
                await #expect(throws: CancellationError.self) { try await waiting.value }
                #expect(client.statistics.inFlightCount == 1, "the slow one still runs")
                try await gate.open()
                _ = try await slow
            }
            #expect(try await client.run("select count(*) from marks").first?.int8(0) == 0)
        }
    }

    @Test("throws at once when the task was cancelled after sending; the statement and its neighbours run on")
    func cancelsSent() async throws {
        let conninfo = try await TestCluster.shared().createDatabase()
        try await withClient(connections: 1, conninfo: conninfo) { client in
            try await client.run("create table marks (mark int4)")
            try await Gate.closed(conninfo) { gate in
                let sent = Task { try await client.run("insert into marks select 1 from (\(Gate.pass)) gate") }
                try await eventually("a statement is in flight") { client.statistics.inFlightCount == 1 }
                async let neighbour = client.run("select count(*) from marks")
                try await eventually("two statements are in flight") { client.statistics.inFlightCount == 2 }
                sent.cancel()
                await #expect(throws: CancellationError.self) { try await sent.value }
                #expect(client.statistics.inFlightCount == 2)
                try await gate.open()
                #expect(try await neighbour.first?.int8(0) == 1)
            }
        }
    }

    @Test("throws when the task was cancelled before")
    func cancelledBefore() async throws {
        try await withClient { client in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await client.run("select 1")
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(client.statistics.totals.statementCount == 0)
        }
    }

    @Test("sends a large statement and reads a large result while others continue")
    func movesMuch() async throws {
        try await withClient(connections: 1) { client in
            let large = [UInt8](repeating: 7, count: 8 << 20)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 as Range<Int32> {
                    group.addTask {
                        let rows = try await client.run(
                            "select $1::int4, $2::bytea || $2::bytea", [.int4(number), .bytes(large)])
                        #expect(try rows.first?.int4(0) == number)
                        #expect(try rows.first?.withBytes(1) { $0.count } == 16 << 20)
                    }
                    group.addTask { try await client.run("select 1") }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("refuses statements past the limit, and those that waited too long")
    func bounds() async throws {
        let conninfo = try await TestCluster.shared().createDatabase()
        try await withClient(
            connections: 1, conninfo: conninfo,
            {
                $0.inFlightPerConnectionMax = 1
                $0.waitingCountMax = 1
                $0.waitMax = .seconds(2)
            }
        ) { client in
            try await client.run("select 1")
            try await Gate.closed(conninfo) { gate in
                async let slow = client.run(Gate.pass)
                try await eventually("a statement is in flight") { client.statistics.inFlightCount == 1 }
                let waiting = Task { try await client.run("select 1") }
                try await eventually("a statement waits") { client.statistics.waitingCount == 1 }
                await #expect(throws: PostgresError.poolFull) { try await client.run("select 2") }
                await #expect(throws: PostgresError.waitTimedOut) { try await waiting.value }
                try await gate.open()
                _ = try await slow
            }
        }
    }

    @Test("finishes statements in flight when it shuts down, and accepts no new ones")
    func shutsDown() async throws {
        let conninfo = try await TestCluster.shared().createDatabase()
        try await withClient(conninfo: conninfo, { $0.shutdownMax = .seconds(60) }) { client in
            try await Gate.closed(conninfo) { gate in
                async let slow = client.run(Gate.pass)
                try await eventually("a statement is in flight") { client.statistics.inFlightCount == 1 }
                async let shutdown: Void = client.shutdown()
                // Nothing waits for these statements: one that is accepted may wait behind the slow one.
                let refused = Tally()
                try await eventually("new statements are refused") {
                    client.begin(Statement("test", "select 1"), []) { result in
                        if case .failure(PostgresError.closed) = result { refused.add() }
                    }
                    return refused.value > 0
                }
                try await gate.open()
                #expect(try await slow.first?.int4(1) == 42)
                await shutdown
            }
            await #expect(throws: PostgresError.closed) { try await client.run("select 1") }
            await client.shutdown()
        }
    }
}
