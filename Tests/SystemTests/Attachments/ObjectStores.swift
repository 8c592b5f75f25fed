// Attachments in an S3-compatible store: a real server with faults, nodes that are killed, and moves in both directions.
import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite(
        "Attachments in an object store", .serialized, .timeLimit(.minutes(4)),
        .enabled(if: Tool.permits(TestObjectStore.isInstalled), "\(TestObjectStore.needed)"))
    struct ObjectStores {
        /// A file that a test has uploaded.
        private struct File {
            let id: String
            let bytes: Data
        }

        private let server: TestObjectStore
        private let nodes: TestNodes
        private let ann: Person

        init() async throws {
            server = try await TestObjectStore.start()
            let cluster = try await TestCluster.shared()
            let database = try await MigratedDatabase.create(on: cluster)
            // PostgreSQL counts the calls of functions, for `movers`.
            try await cluster.psql(
                "alter database \(TestCluster.databaseName(database)) set track_functions = 'pl'")
            nodes = try await TestNodes.own(database: database, settings: Self.settings(server))
            ann = try await nodes.a.client.register("Ann")
        }

        private static func settings(_ server: TestObjectStore) -> [String: String] {
            [
                "PARLEY_S3_ENDPOINT": server.endpoint, "PARLEY_S3_BUCKET": TestObjectStore.bucket,
                "PARLEY_S3_REGION": TestObjectStore.region, "PARLEY_S3_ACCESS_KEY": TestObjectStore.accessKey,
                "PARLEY_S3_SECRET_KEY": TestObjectStore.secretKey,
            ]
        }

        // MARK: Steps

        private func call(
            _ method: String, _ path: String, _ body: Data? = nil, at node: Node? = nil,
            headers: [(name: String, value: String)] = []
        ) async throws -> Answer {
            var request = Request(method, "/v1/attachments/" + path)
            request.headers = headers + [("Authorization", "Bearer \(ann.token)")]
            request.body = body
            request.waitMax = .seconds(60)
            return try await (node ?? nodes.a).client.send(request)
        }

        private func upload(_ byteCount: Int, at node: Node? = nil) async throws -> File {
            let file = File(id: newID(), bytes: TestFile.randomBytes(byteCount))
            let answer = try await call("PUT", "\(file.id)?name=a.bin", file.bytes, at: node)
            try #require(answer.status == 201, "\(answer)")
            return file
        }

        private func upload(count: Int) async throws -> [File] {
            var files: [File] = []
            for number in 0..<count {
                let size = [1, 100_000, 262_144, 700_000, 3_000_000][number % 5]
                files.append(try await upload(size, at: number % 2 == 0 ? nodes.a : nodes.b))
            }
            return files
        }

        private func expectWhole(_ files: [File], sourceLocation: SourceLocation = #_sourceLocation) async throws {
            for file in files {
                let answer = try await call("GET", file.id, at: nodes.b)
                #expect(answer.status == 200 && answer.body == file.bytes, sourceLocation: sourceLocation)
            }
        }

        private func keys(_ files: [File]) -> [String] { files.map { "parley/\($0.id)/0" }.sorted() }

        private func sql(_ query: String) async throws -> String { try await Psql.run(query, conninfo: nodes.database) }

        /// Ends all leases and waits: the movers and the garbage workers act now.
        private func hurry() async throws {
            _ = try await sql(
                "update attachment_garbage set next_at = now(); update attachments set lease_until = now()")
        }

        /// Waits until the bucket has exactly the objects of these files, and the database says so, too.
        private func expectInStore(_ files: [File], others: [String] = []) async throws {
            let expected = (keys(files) + others).sorted()
            do {
                try await eventually("the bucket to have all objects", within: .seconds(60), every: .milliseconds(200))
                {
                    try await server.keys() == expected
                }
                try await eventually("the garbage list to be empty", within: .seconds(60), every: .milliseconds(200)) {
                    try await sql("select count(*) from attachment_garbage") == "0"
                }
            } catch {
                let found = try await server.keys()
                Issue.record(
                    """
                    \(error)
                    missing: \(Set(expected).subtracting(found)), too many: \(Set(found).subtracting(expected))
                    \(try await sql("select * from attachment_garbage"))
                    \(nodes.a.program.errors.suffix(2_000))
                    """)
            }
            #expect(try await sql("select count(*) from attachments where state = 2 and not is_moved") == "0")
            #expect(try await sql("select count(*) from attachment_chunks") == "0")
        }

        /// Waits until the nodes have looked for attachments to move so many times. Their four lanes look once a second.
        private func movers(lookTimes count: Int) async throws {
            func looks() async throws -> Int {
                Int(try await sql("select calls from pg_stat_user_functions where funcname = 'attachment_move_claim'"))
                    ?? 0
            }
            let before = try await looks()
            try await eventually("\(count) looks of the movers", within: .seconds(60), every: .milliseconds(100)) {
                try await looks() >= before + count
            }
        }

        private func move(to place: String) async throws -> Parley.Outcome {
            try await Parley.run(
                ["attachments", "move", "--to", place],
                settings: Self.settings(server).merging(["PARLEY_DATABASE_URL": nodes.database]) { $1 },
                within: .seconds(120))
        }

        // MARK: Tests

        @Test("files move to the store despite its faults and are deleted there; nothing is lost or left behind")
        func faults() async throws {
            try server.set(
                .init(.slowDown, "PUT", times: 2), .init(.drop, "PUT", times: 2), .init(.lost, "PUT", times: 2),
                .init(.away, "PUT", times: 2), .init(.slow, "PUT", times: 2))
            let files = try await upload(count: 15)
            // A variant of its own.
            let picture =
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
            let thumbnail = try #require(Data(base64Encoded: picture))
            let set = try await call(
                "PUT", "\(files[0].id)/thumbnail", thumbnail, headers: [("Content-Type", "image/png")])
            #expect(set.status == 200, "\(set)")
            try await expectInStore(files, others: ["parley/\(files[0].id)/1"])
            try await expectWhole(files)
            #expect(try await call("GET", "\(files[0].id)/thumbnail").status == 200)

            let part = try await call("GET", files[4].id, headers: [("Range", "bytes=262143-1000000")])
            #expect(part.status == 206 && part.body == files[4].bytes[262_143...1_000_000])
            // The node repeats a read once.
            for kind in [TestObjectStore.Fault.Kind.slowDown, .drop, .lost, .slow] {
                try server.set(.init(kind, "GET"))
                try await expectWhole([files[4]])
            }

            try server.set(
                .init(.notFound, "DELETE", times: 2), .init(.slowDown, "DELETE", times: 2),
                .init(.lost, "DELETE", times: 2),
                .init(.away, "DELETE", times: 2))
            for file in files[..<10] { #expect(try await call("DELETE", file.id).status == 204) }
            for file in files[..<10] { #expect(try await call("GET", file.id).status == 404) }
            try await eventually("failed deletions", every: .milliseconds(100)) {
                try server.requests().count { $0.method == "DELETE" && $0.fault != nil } >= 8 ? true : nil
            }
            try await hurry()
            try await expectInStore(Array(files[10...]))
            try await expectWhole(Array(files[10...]))
            try await nodes.stop()
        }

        @Test("while the store is down, uploads continue and downloads of moved files get 503 with Retry-After")
        func outage() async throws {
            let old = try await upload(500_000)
            try await expectInStore([old])
            try server.set(
                .init(.away, "PUT", times: 10_000), .init(.away, "GET", times: 10_000),
                .init(.away, "DELETE", times: 10_000))
            let new = try await upload(700_000)
            try await expectWhole([new])
            let answer = try await call("GET", old.id)
            #expect(answer.status == 503 && answer.headers["retry-after"] != nil, "\(answer)")
            #expect(try await nodes.a.client.get("/health/ready").status == 200)
            try await eventually("a failed move", every: .milliseconds(100)) {
                try await [nodes.a, nodes.b].asyncSum(#"parley_worker_failures_total{worker="objectMover"}"#) > 0
            }
            // A node starts without the store.
            let third = try await Node.start(database: nodes.database, settings: Self.settings(server))
            #expect(try await third.client.get("/health/ready").status == 200)
            try await third.stop()
            try server.set()
            try await expectWhole([old])
            try await eventually("the end of the claims", every: .milliseconds(500)) {
                try await hurry()
                return try await server.keys() == keys([old, new])
            }
            try await expectInStore([old, new])
            try await expectWhole([old, new])
            try await nodes.stop()
        }

        @Test("a node that is killed in the middle of a move leaves no trace; the other one finishes")
        func killed() async throws {
            try await nodes.b.stop()
            try server.set(.init(.slow, "PUT", times: 1))
            let file = try await upload(20_000_000)
            try await eventually("the move to begin", every: .milliseconds(20)) {
                try server.requests().contains { $0.method == "PUT" }
            }
            try await nodes.a.kill()
            #expect(try await sql("select count(*) from attachment_garbage") == "1")
            // Deleted while nobody knows whether the object was written.
            _ = try await sql("update attachments set due_at = now()")
            let other = try await Node.start(database: nodes.database, settings: Self.settings(server))
            let kept = try await upload(1_000_000, at: other)
            try await hurry()
            try await eventually("the file's end", every: .milliseconds(200)) {
                try await sql("select count(*) from attachments where id = '\(file.id)'") == "0"
            }
            try await hurry()
            try await expectInStore([kept])
            try await other.stop()
        }

        @Test("parley attachments move brings all files to PostgreSQL and back while nodes serve")
        func moves() async throws {
            let files = try await upload(count: 12)
            try await expectInStore(files)

            try server.set(.init(.drop, "GET", times: 2), .init(.slowDown, "GET", times: 2))
            async let leaving = move(to: "postgres")
            // A node repeats a read once only, so clients wait until the command has met the faults.
            try await eventually("four faults", within: .seconds(60)) {
                try server.requests().count { $0.method == "GET" && $0.fault != nil } >= 4 ? true : nil
            }
            // The objects are deleted a minute after the move.
            try await eventually("all files to be in PostgreSQL", within: .seconds(60), every: .milliseconds(100)) {
                try await expectWhole([files[4], files[9]])
                return try await sql("select count(*) from attachments where is_moved") == "0"
            }
            try await hurry()
            let left = try await leaving
            #expect(left.exit == .status(0), "\(left.errors)")
            #expect(left.errors.contains(" left\n"))
            #expect(try await server.keys().isEmpty)
            try await expectWhole(files)

            // Nodes with the settings obey the command's place.
            let more = try await upload(400_000)
            try await movers(lookTimes: 12)
            #expect(try await server.keys().isEmpty)

            let back = try await move(to: "s3")
            #expect(back.exit == .status(0), "\(back.errors)")
            try await expectInStore(files + [more])
            try await expectWhole(files + [more])

            // An object that was lost, by no fault of Parley's.
            _ = try await sql(
                "update attachments set digest = sha256('other') where id = '\(more.id)'")
            let failed = try await move(to: "postgres")
            #expect(failed.exit == .status(1) && failed.errors.contains(more.id), "\(failed.errors)")
            try await nodes.stop()
        }

        @Test("a wrong key is reported in the log, and files stay in PostgreSQL")
        func wrongKey() async throws {
            let wrong = Self.settings(server).merging(["PARLEY_S3_SECRET_KEY": "wrong-and-secret"]) { $1 }
            try await nodes.stop()
            let node = try await Node.start(database: nodes.database, settings: wrong)
            let file = try await upload(1_000, at: node)
            try await eventually("a log line", every: .milliseconds(100)) {
                node.program.errors.contains("refuses the credentials or the bucket")
            }
            #expect(node.program.errors.contains("403 SignatureDoesNotMatch"))
            #expect(!node.program.errors.contains("wrong-and-secret"))
            #expect(try await call("GET", file.id, at: node).body == file.bytes)
            try await node.stop()
        }

        @Test("with PARLEY_S3_SERVE=redirect a client gets the bytes from the store, without Parley's credentials")
        func redirects() async throws {
            let file = try await upload(300_000)
            try await expectInStore([file])
            try await nodes.stop()
            let settings = Self.settings(server).merging(["PARLEY_S3_SERVE": "redirect"]) { $1 }
            let node = try await Node.start(database: nodes.database, settings: settings)
            let answer = try await call("GET", file.id, at: node)
            try #require(answer.status == 307, "\(answer)")
            let location = try #require(answer.headers["location"])
            #expect(location.hasPrefix(server.endpoint + "/files/parley/\(file.id)/0?"))
            let url = try #require(URL(string: location))
            let port = try #require(url.port)
            let target = location.dropFirst(server.endpoint.count)
            let bytes = try await Client(address: Address(port: port)).send(Request("GET", String(target)))
            #expect(bytes.status == 200 && bytes.body == file.bytes)
            #expect(bytes.headers["content-type"] == "application/octet-stream")
            #expect(bytes.headers["content-disposition"]?.hasPrefix("attachment") == true)
            try await node.stop()
        }
    }
}

extension [Node] {
    /// The sum of a metric over nodes.
    fileprivate func asyncSum(_ metric: String) async throws -> Double {
        var sum = 0.0
        for node in self { sum += try await node.metric(metric) ?? 0 }
        return sum
    }
}
