// Nodes behind nginx, two as in compose, or three on machines of their own: each node shows the writes of the others, and nodes restart unnoticed.

import Foundation
import Synchronization
import TestSupport
import Testing

extension SystemTests {
    @Suite("Nodes behind nginx", .timeLimit(.minutes(5)))
    struct BehindNginx {
        private struct Site: Sendable {
            let nodes: [Node]
            let nginx: Nginx
            let database: String

            /// The last node receives no notifications: it listens on another database, so that its tail lags.
            static func open(deaf: Bool = false, limitsRates: Bool = false) async throws -> Site {
                let cluster = try await TestCluster.shared()
                let database = try await cluster.createDatabase()
                var settings = ["PARLEY_DRAIN_SECONDS": "1"]
                var nodes: [Node] = []
                for number in 1...2 {
                    if deaf, number == 2 { settings["PARLEY_LISTEN_URL"] = try await cluster.createDatabase() }
                    nodes.append(try await Node.start(database: database, settings: settings))
                }
                let nginx = try await Nginx.start(nodes.map(\.address), limitsRates: limitsRates)
                return Site(nodes: nodes, nginx: nginx, database: database)
            }

            /// Connections directly to each node, and through the proxy.
            var addresses: [Address] { nodes.map(\.address) + [nginx.address] }
        }

        @Test("show every acknowledged write in every GET on every node, with six concurrent clients")
        func readYourWrites() async throws {
            let site = try await Site.open(deaf: true)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        try await ReadYourWrites(through: site.nginx.address, on: site.addresses).run(rounds: 8)
                    }
                }
                try await group.waitForAll()
            }
        }

        @Test("refuse a signed-out token on every node within a second")
        func signOut() async throws {
            let site = try await Site.open(deaf: true)
            for _ in 0..<3 {
                let ann = try await Connection(site.nginx.address).register("Ann")
                // Each node has cached the token.
                for address in site.addresses {
                    #expect(try await Connection(address).get("/v1/users/me", as: ann).status == 200)
                }
                #expect(try await Connection(site.nginx.address).call("POST", "/v1/auth/logout", as: ann).status == 204)
                let signedOut = ContinuousClock.now
                for address in site.addresses {
                    let connection = Connection(address)
                    try await eventually("the token to be refused at \(address)") {
                        let asked = ContinuousClock.now
                        if try await connection.get("/v1/users/me", as: ann).status == 401 { return true }
                        #expect(signedOut.duration(to: asked) < .seconds(1))
                        return nil
                    }
                }
            }
        }

        @Test("lose and duplicate nothing when one is killed, and return only documented answers")
        func killed() async throws {
            let site = try await Site.open()
            let restarted = Mutex<[Node]>([])
            let outcome = try await Traffic.run(through: [site.nginx.address]) { traffic in
                try await traffic.flow(200)
                try await site.nodes[1].kill()
                try await traffic.flow(300)
                let node = try await Node.start(database: site.database, port: site.nodes[1].address.port)
                restarted.withLock { $0.append(node) }
                try await traffic.flow(200)
            }
            try await outcome.checkDelivery(on: site.nodes[0])
            #expect(outcome.statuses.keys.allSatisfy { [200, 201, 503].contains($0) }, "\(outcome.statuses)")
        }

        @Test("are restarted one after the other, and clients see at most a 503")
        func rollingRestart() async throws {
            let site = try await Site.open()
            let restarted = Mutex<[Node]>([])
            let outcome = try await Traffic.run(through: [site.nginx.address]) { traffic in
                for node in site.nodes {
                    try await traffic.flow(150)
                    let (exit, _) = try await node.stop()
                    #expect(exit == .status(0), "\(node.program.errors)")
                    let next = try await Node.start(database: site.database, port: node.address.port)
                    restarted.withLock { $0.append(next) }
                }
                try await traffic.flow(150)
            }
            let judge = try #require(restarted.withLock { $0.last })
            try await outcome.checkDelivery(on: judge)
            #expect(outcome.statuses.keys.allSatisfy { [200, 201, 503].contains($0) }, "\(outcome.statuses)")
        }

        @Test("are protected from a flood by one address, which gets a problem document and is served again later")
        func flood() async throws {
            let site = try await Site.open(limitsRates: true)
            let address = site.nginx.address
            let answers = try await withThrowingTaskGroup(of: [Int: Answer].self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let connection = Connection(address)
                        var last: [Int: Answer] = [:]
                        for _ in 0..<1_000 {
                            let answer = try await connection.get("/health/live")
                            last[answer.status] = answer
                        }
                        return last
                    }
                }
                return try await group.reduce(into: [:]) { $0.merge($1) { $1 } }
            }
            #expect(Set(answers.keys) == [200, 429])
            let refusal = try #require(answers[429])
            #expect(refusal.code == "rate_limited" && refusal.headers["retry-after"] == "1", "\(refusal)")
            #expect(refusal.headers["content-type"] == "application/problem+json")
            // The limit does not cover polls, and a second later it has room again.
            let ann = try await site.nodes[0].client.register("Ann")
            #expect(try await Connection(site.nginx.address).get("/v1/sync", as: ann).status == 200)
            try await eventually("the address to be served again") {
                try await Connection(site.nginx.address).get("/v1/inbox", as: ann).status == 200
            }
        }

        @Test("leave no token of a hook and no link of an attachment in nginx's logs, whether or not a node answers")
        func secrets() async throws {
            let node = try await Node.start(database: TestCluster.shared().createDatabase())
            let closed = try (0..<2).map { _ in Address(port: try Sockets.freePort()) }
            for (addresses, status) in [([node.address, node.address], 200), (closed, 503)] {
                let nginx = try await Nginx.start(addresses, status: status)
                let proxy = Connection(nginx.address)
                for count in [1, 100_000, 1_000_000] {
                    let answer = try await proxy.post(
                        "/v1/hooks/parleyhook_secret", ["text": .string(String(repeating: "x", count: count))])
                    #expect([404, 413, 503].contains(answer.status), "\(answer)")
                }
                for path in ["", "/thumbnail"] {
                    let answer = try await proxy.get("/v1/attachments/\(newID())\(path)?link=secret")
                    #expect([404, 503].contains(answer.status), "\(answer)")
                }
                // Another call with such a body is in the error log.
                _ = try await proxy.post(
                    "/v1/threads?marker", ["text": .string(String(repeating: "x", count: 100_000))])
                try await eventually("the last lines") {
                    nginx.errors.contains("marker") && nginx.accesses.contains("/v1/threads")
                }
                #expect(nginx.accesses.contains("/v1/hooks/-") && nginx.accesses.contains("/v1/attachments/"))
                #expect(!nginx.errors.contains("secret") && !nginx.accesses.contains("secret"), "\(nginx.errors)")
            }
            try await node.stop()
        }

        @Test("are served over HTTPS by the site for machines of their own, which sends HTTP there")
        func ownMachines() async throws {
            let certificates = try Certificates()
            try certificates.make("site")
            let node = try await Node.start(
                database: TestCluster.shared().createDatabase(), settings: ["PARLEY_TRUSTED_PROXIES": "127.0.0.1/32"])
            let nginx = try await Nginx.start(
                .machines(certificate: certificates.path + "/site.crt", key: certificates.path + "/site.key"),
                Array(repeating: node.address, count: 3))
            func curl(_ path: String, _ more: [String] = []) async throws -> String {
                let program = try await TestProcess.start(
                    ["/usr/bin/curl", "--disable", "-s", "-i", "--cacert", certificates.path + "/site.crt"] + more
                        + ["https://127.0.0.1:\(nginx.address.port)\(path)"])
                _ = try await program.waitForExit(within: .seconds(65))
                return String(decoding: program.output, as: UTF8.self)
            }
            let live = try await eventually("nginx at \(nginx.address)") {
                try #require(nginx.errors.isEmpty, "\(nginx.errors)")
                let text = try await curl("/health/live")
                return text.isEmpty ? nil : text
            }
            #expect(live.hasPrefix("HTTP/2 200"), "\(live)")
            // The node knows that the client came by HTTPS: its addresses begin so.
            let ann = try await node.client.register("Ann")
            let file = try await node.client.uploaded(Data("hello".utf8), as: ann)["id"].string ?? ""
            let link = try await curl(
                Attachments.path(file, "/link"), ["-X", "POST", "-H", "Authorization: Bearer \(ann.token)"])
            #expect(link.contains("\"https://127.0.0.1:\(nginx.address.port)/v1/attachments/"), "\(link)")
            try await node.stop()
        }

        @Test("are replaced by a problem document from nginx when all of them are down")
        func noneThere() async throws {
            let site = try await Site.open()
            for node in site.nodes { try await node.kill() }
            let answer = try await Connection(site.nginx.address).get("/v1/inbox")
            #expect(answer.status == 503 && answer.headers["retry-after"] == "1", "\(answer)")
            #expect(answer.headers["content-type"] == "application/problem+json")
            #expect(answer.json["code"] == "unavailable" && answer.json["status"] == 503)
            for path in ["/metrics", "/metrics/", "//metrics", "/metrics//"] {
                #expect(try await Connection(site.nginx.address).get(path).status == 404, "\(path)")
            }
        }
    }
}

/// One client's chat through a proxy. After each answer the test looks for the change on every node.
struct ReadYourWrites {
    let writer: Connection
    let readers: [Connection]

    init(through proxy: Address, on addresses: [Address]) {
        writer = Connection(proxy)
        readers = addresses.map(Connection.init)
    }

    func run(rounds: Int) async throws {
        let ann = try await writer.register("Ann")
        let bob = try await writer.register("Bob")
        var cursors = Array(repeating: try await writer.cursor(of: bob), count: readers.count)
        let thread = try await writer.thread("group", by: ann, with: [bob])
        try await expect("thread.created", thread, for: bob, &cursors)
        for reader in readers { #expect(try await reader.get("/v1/threads/\(thread)", as: bob).status == 200) }

        for round in 1...rounds {
            let id = try await writer.sent("\(round)", in: thread, as: ann)
            try await expect("message.created", id, for: bob, &cursors)
            for reader in readers {
                #expect(try await reader.get("/v1/threads/\(thread)/messages/\(id)", as: bob).status == 200)
                let page = try await reader.get("/v1/threads/\(thread)/messages", as: bob).json
                #expect(page["head"].int == round && page["messages"].items.last?["id"].string == id)
                let inbox = try await reader.get("/v1/inbox", as: bob).json
                #expect(inbox["threads"][0]["last_message"]["id"].string == id && inbox["unread_total"] == 1)
                // Without a cursor: the current position is past the acknowledged message.
                let now = try await reader.cursor(of: bob)
                #expect(try await reader.sync(bob, from: now).told.isEmpty)
            }
            let receipt = try await writer.put(
                "/v1/threads/\(thread)/receipts", ["read": .number(Double(round))], as: bob)
            #expect(receipt.status == 204, "\(receipt)")
            try await expect("receipt.updated", bob.id, for: bob, &cursors)
            for reader in readers { #expect(try await reader.get("/v1/inbox", as: bob).json["unread_total"] == 0) }
        }

        let left = try await writer.delete("/v1/threads/\(thread)/members/me", as: bob)
        #expect(left.status == 204, "\(left)")
        try await expect("member.updated", bob.id, for: bob, &cursors)
        _ = try await writer.sent("without Bob", in: thread, as: ann)
        for (index, reader) in readers.enumerated() {
            #expect(try await reader.sync(bob, from: cursors[index]).json["events"].items.isEmpty)
            #expect(try await reader.get("/v1/inbox", as: bob).json["threads"].items.isEmpty)
        }
    }

    /// Expects the poll without a wait, on every node, to end with this event.
    private func expect(
        _ type: String, _ subject: String, for person: Person, _ cursors: inout [String]
    ) async throws {
        for (index, reader) in readers.enumerated() {
            let answer = try await reader.sync(person, from: cursors[index])
            // The service sends delivered marks on its own, possibly after this event.
            let events = answer.json["events"].items
            let last = events.last { $0["type"].string == type || $0["type"] != "receipt.updated" } ?? .null
            let subjects = [last["data"]["id"], last["data"]["user_id"], last["data"]["user"]["id"], last["thread_id"]]
            #expect(
                last["type"].string == type && subjects.contains { $0.string == subject },
                "\(type) at \(reader.address): \(answer)")
            cursors[index] = answer.json["cursor"].string ?? cursors[index]
        }
    }
}
