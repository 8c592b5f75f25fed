// Two nodes behind Caddy, as in compose, with docker/Caddyfile as it stands.

import Foundation
import Synchronization
import TestSupport
import Testing

extension SystemTests {
    @Suite(
        "Two nodes behind Caddy",
        .enabled(if: Tool.permits(Caddy.isInstalled), "caddy is not installed (.ci/deps test)"),
        .timeLimit(.minutes(5)))
    struct BehindCaddy {
        private struct Site: Sendable {
            let nodes: [Node]
            let caddy: Caddy
            let database: String

            static func open() async throws -> Site {
                let database = try await TestCluster.shared().createDatabase()
                var nodes: [Node] = []
                for _ in 1...2 {
                    nodes.append(
                        try await Node.start(database: database, settings: ["PARLEY_TRUSTED_PROXIES": "127.0.0.1/32"]))
                }
                return Site(nodes: nodes, caddy: try await Caddy.start(nodes.map(\.address)), database: database)
            }
        }

        @Test("show every acknowledged write in every GET on both nodes")
        func readYourWrites() async throws {
            let site = try await Site.open()
            let addresses = site.nodes.map(\.address) + [site.caddy.address]
            try await ReadYourWrites(through: site.caddy.address, on: addresses).run(rounds: 8)
        }

        @Test("lose and duplicate nothing when one is killed and one restarted, and return only documented answers")
        func killed() async throws {
            let site = try await Site.open()
            let restarted = Mutex<[Node]>([])
            let outcome = try await Traffic.run(through: [site.caddy.address]) { traffic in
                try await traffic.flow(200)
                try await site.nodes[1].kill()
                try await traffic.flow(300)
                let killed = try await Node.start(database: site.database, port: site.nodes[1].address.port)
                let (exit, _) = try await site.nodes[0].stop()
                #expect(exit == .status(0))
                let stopped = try await Node.start(database: site.database, port: site.nodes[0].address.port)
                restarted.withLock { $0 = [killed, stopped] }
                try await traffic.flow(200)
            }
            let judge = try #require(restarted.withLock { $0.last })
            try await outcome.checkDelivery(on: judge)
            #expect(outcome.statuses.keys.allSatisfy { [200, 201, 503].contains($0) }, "\(outcome.statuses)")
        }

        @Test("leave no token of a hook and no link of an attachment in Caddy's logs, whether or not a node answers")
        func secrets() async throws {
            let node = try await Node.start(database: TestCluster.shared().createDatabase())
            let closed = try (0..<2).map { _ in Address(port: try Sockets.freePort()) }
            for (addresses, status) in [([node.address, node.address], 200), (closed, 503)] {
                let caddy = try await Caddy.start(addresses, status: status)
                let proxy = Connection(caddy.address)
                let hook = try await proxy.post("/v1/hooks/parleyhook_secret", ["text": "x"])
                #expect([404, 503].contains(hook.status), "\(hook)")
                for path in ["", "/thumbnail"] {
                    let answer = try await proxy.get("/v1/attachments/\(newID())\(path)?link=secret")
                    #expect([404, 503].contains(answer.status), "\(answer)")
                }
                _ = try await proxy.get("/v1/threads?marker")
                try await eventually("the last lines") { caddy.logs.contains("\"/v1/threads?-\"") }
                #expect(caddy.logs.contains("/v1/hooks/?-") && caddy.logs.contains("/v1/attachments/"))
                #expect(!caddy.logs.contains("secret") && !caddy.logs.contains("Bearer"), "\(caddy.logs)")
            }
            try await node.stop()
        }

        @Test("are replaced by a problem document when both are down, and never show metrics")
        func noneThere() async throws {
            let site = try await Site.open()
            for path in ["/metrics", "/metrics/", "//metrics", "/metrics//"] {
                #expect(try await Connection(site.caddy.address).get(path).status == 404, "\(path)")
            }
            for node in site.nodes { try await node.kill() }
            let answer = try await Connection(site.caddy.address).get("/v1/inbox")
            #expect(answer.status == 503 && answer.headers["retry-after"] == "1", "\(answer)")
            #expect(answer.headers["content-type"] == "application/problem+json")
            #expect(answer.json["code"] == "unavailable" && answer.json["status"] == 503)
        }

        @Test("are served over HTTPS, to which HTTP leads; the node learns of it, and of the client's own address only")
        func https() async throws {
            let node = try await Node.start(
                database: TestCluster.shared().createDatabase(), settings: ["PARLEY_TRUSTED_PROXIES": "127.0.0.1/32"])
            let caddy = try await Caddy.start([node.address, node.address], usesTLS: true)
            let origin = "https://localhost:\(caddy.address.port)"
            func curl(_ url: String, _ more: [String] = []) async throws -> String {
                let program = try await TestProcess.start(
                    ["/usr/bin/curl", "--disable", "-s", "-i", "--cacert", caddy.authority] + more + [url])
                _ = try await program.waitForExit(within: .seconds(65))
                return String(decoding: program.output, as: UTF8.self)
            }
            let live = try await eventually("Caddy at \(origin)") {
                let text = try await curl("\(origin)/health/live")
                return text.isEmpty ? nil : text
            }
            #expect(live.hasPrefix("HTTP/2 200"), "\(live)")
            let redirect = try await curl("http://localhost:\(caddy.redirectPort)/chat")
            #expect(redirect.contains("308") && redirect.contains("Location: https://localhost"), "\(redirect)")
            // The node's addresses begin as the client's do.
            let ann = try await node.client.register("Ann")
            let file = try await node.client.uploaded(Data("hello".utf8), as: ann)["id"].string ?? ""
            let link = try await curl(
                origin + Attachments.path(file, "/link"), ["-X", "POST", "-H", "Authorization: Bearer \(ann.token)"])
            #expect(link.contains("\"\(origin)/v1/attachments/"), "\(link)")
            try await node.stop()
        }
    }
}
