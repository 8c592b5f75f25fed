// How a node handles the schema that it finds at start.

import TestSupport
import Testing

extension SystemTests {
    @Suite("The schema at a node's start", .timeLimit(.minutes(2)))
    struct SchemaAtStart {
        let cluster: TestCluster
        let database: String

        init() async throws {
            cluster = try await TestCluster.shared()
            database = try await cluster.createDatabase()
        }

        private func serveWithoutMigrating() async throws -> Parley.Outcome {
            let settings = ["PARLEY_DATABASE_URL": database, "PARLEY_HTTP_PORT": "0", "PARLEY_MIGRATE": "off"]
            return try await Parley.run(["serve"], settings: settings)
        }

        @Test("is created by the first of three nodes on an empty database")
        func threeAtOnce() async throws {
            async let first = Node.start(database: database)
            async let second = Node.start(database: database)
            async let third = Node.start(database: database)
            let nodes = try await [first, second, third]
            let ann = try await nodes[0].client.register("Ann")
            for node in nodes {
                #expect(try await node.client.get("/health/ready").status == 200)
                #expect(try await node.client.get("/v1/users/me", as: ann).status == 200)
                #expect(try await node.stop().exit == .status(0))
            }
        }

        @Test("is not created with PARLEY_MIGRATE=off: the error names the way out")
        func emptyDatabase() async throws {
            try await serveWithoutMigrating().expectRefusal(mentioning: ["migrate"])
            #expect(
                try await cluster.psql("select count(*) from pg_class where relname = 'messages'", database: database)
                    == "0")
            let migrated = try await Parley.run(["migrate"], settings: ["PARLEY_DATABASE_URL": database])
            #expect(migrated.exit == .status(0), "\(migrated.errors)")
            let node = try await Node.start(database: database, settings: ["PARLEY_MIGRATE": "off"])
            try await node.stop()
        }
    }
}
