// The database of each release, migrated by this build while two nodes of that release serve clients.

import Foundation
import Synchronization
import TestSupport
import Testing

extension SystemTests {
    @Suite("Upgrading", .timeLimit(.minutes(5)))
    struct Upgrading {
        /// PARLEY_RELEASES names a folder with VERSION/parley for each release. Without it the nodes of a release cannot
        /// run, and only its database is migrated.
        private static func executable(of version: String) -> String? {
            let folder = ProcessInfo.processInfo.environment["PARLEY_RELEASES"]
            let path = folder.map { "\($0)/\(version)/parley" }
            return path.flatMap { FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil }
        }

        @Test("keeps everything in the database of each release")
        func releases() async throws {
            for kept in try KeptDatabase.released() {
                try await Upgrade(kept, old: Self.executable(of: kept.version), isFresh: false).run()
            }
        }

        @Test("keeps everything in a database that this build made, as a release will keep it")
        func thisBuild() async throws {
            let folder = try TemporaryDirectory()
            let kept = try KeptDatabase.make(by: Parley.executable, in: folder)
            try await Upgrade(kept, old: Parley.executable, isFresh: true).run()
        }
    }
}

/// An upgrade of one database.
private struct Upgrade: Sendable {
    /// What is in the database.
    private let facts: JSON
    private let database: String
    /// The executable of the version that made the database; nil if it is not on this machine.
    private let old: String?
    /// False for a database whose sessions and log may have expired by age.
    private let isFresh: Bool

    init(_ kept: KeptDatabase, old: String?, isFresh: Bool) async throws {
        facts = try kept.facts
        database = try await kept.restore()
        self.old = old
        self.isFresh = isFresh
    }

    func run() async throws {
        guard let old else {
            try await migrate()
            try await expectFacts(on: try await Node.start(database: database))
            return
        }
        let off = ["PARLEY_MIGRATE": "off"]
        let nodes = [
            try await Node.start(database: database, settings: off, executable: old),
            try await Node.start(database: database, settings: off, executable: old),
        ]
        try await expectFacts(on: nodes[0])
        let replaced = Mutex<[Node]>([])
        let outcome = try await Traffic.run(through: nodes) { traffic in
            try await traffic.flow(100)
            try await migrate()
            try await traffic.flow(100)
            for node in nodes {
                try await node.stop()
                let next = try await Node.start(database: database, port: node.address.port)
                replaced.withLock { $0.append(next) }
                try await traffic.flow(100)
            }
        }
        let judge = try #require(replaced.withLock { $0.last })
        try await outcome.checkDelivery(on: judge)
        // 0: a node that is being replaced accepts no connection.
        #expect(outcome.statuses.keys.allSatisfy { [0, 200, 201, 503].contains($0) }, "\(outcome.statuses)")
        try await expectFacts(on: judge)
    }

    private func migrate() async throws {
        let migrated = try await Parley.run(["migrate"], settings: ["PARLEY_DATABASE_URL": database])
        #expect(migrated.exit == .status(0), "\(migrated.errors)")
    }

    /// Expects passwords, histories, counts, files, sessions and cursors as the release left them.
    private func expectFacts(on node: Node) async throws {
        let client = node.client
        let kept = facts["people"].items.map { person in
            Person(
                id: person["id"].string ?? "", username: person["username"].string ?? "",
                password: person["password"].string ?? "", session: "", token: person["token"].string ?? "")
        }
        var people: [Person] = []
        for person in kept { people.append(try await client.logIn(again: person)) }
        try #require(people.count == 3)
        for person in people {
            let inbox = try await client.get("/v1/inbox", as: person)
            #expect(inbox.json["unread_total"] == facts["unread"][person.username], "\(inbox)")
        }
        for thread in facts["histories"].keys {
            let messages = facts["histories"][thread].items
            let reader = people.first { person in messages.contains { $0["sender"]["id"].string == person.id } }
            let now = try await client.get("/v1/threads/\(thread)/messages?limit=100", as: reader)
            let shape = { (message: JSON) in [message["id"], message["seq"], message["payload"]["text"]] }
            #expect(now.json["messages"].items.map(shape) == messages.map(shape), "\(now)")
        }
        let file = facts["attachment"]
        let bytes = try await client.get(Attachments.path(file["id"].string ?? ""), as: people[0]).body
        #expect(bytes.count == file["bytes"].int)
        #expect(bytes.prefix(32).map { String(format: "%02x", $0) }.joined() == file["head"].string)
        guard isFresh else { return }
        let told = try await client.sync(kept[1], from: facts["cursor"].string ?? "")
        let message = told.json["events"].items.first { $0["type"] == "message.created" }
        #expect(message?["data"]["id"] == facts["unseen"], "\(told)")
    }
}
