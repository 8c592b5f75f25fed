// Clients that stop reading, and clients that vanish: both leave connections that no client serves.

import Foundation
import TestSupport
import Testing

extension SystemTests.Faults {
    @Test("slow readers of large answers: memory stays bounded, they are disconnected, and others are not delayed")
    func slowReaders() async throws {
        let node = try await Node.start(database: try await MigratedDatabase.create())
        let outcome = try await Traffic.run(through: [node]) { traffic in
            try await traffic.flow(60)
            let pages = try await LargePages.write(at: Connection(node.address))
            let before = node.residentMemoryMiB
            func connections() async throws -> Double { try await node.metric("parley_http_connections") ?? 0 }
            let others = try await connections()
            let clients = try pages.slowReaders(100, of: node.address)
            var peak = 0
            // All have been answered, and the node waits for them to read.
            try await eventually("100 open connections") {
                peak = max(peak, node.residentMemoryMiB)
                return try await connections() >= 100
            }
            try await traffic.flow(100)
            // Which limit ends a connection depends on how busy the machine is: bytes that wait in the node are dropped
            // after 30 s, bytes that wait in the kernel after 40 s, and a connection whose last answer fits into the
            // kernel's buffers is idle.
            try await eventually("silent connections to close", within: .seconds(150), every: .milliseconds(100)) {
                peak = max(peak, node.residentMemoryMiB)
                return try await connections() <= others
            }
            clients.close()
            // A page has 1 MiB, and at times a second copy while it is assembled.
            #expect(peak - before < 300, "\(before) MiB before, \(peak) at most")
            try await traffic.flow(60)
        }
        #expect(outcome.statuses.keys.allSatisfy { [200, 201].contains($0) }, "\(outcome.statuses)")
        try await outcome.checkDelivery(on: node)
        try await node.stop()
    }

    @Test("clients that vanish without closing: their polls end, their waiters are freed, their cursors stay valid")
    func clientsVanish() async throws {
        let node = try await Node.start(
            database: try await MigratedDatabase.create(), settings: ["PARLEY_SESSION_POLLS_MAX": "25"])
        let proxy = try Proxy(to: .tcp(node.address.port))
        let outcome = try await Traffic.run(through: [node]) { traffic in
            let (ann, bob) = (try await node.client.register("Ann"), try await node.client.register("Bob"))
            // Neither person shares presence, because a presence event would answer the other's polls.
            let alone: JSON = ["preferences": ["share_presence": false]]
            for person in [ann, bob] { _ = try await node.client.call("PATCH", "/v1/users/me", alone, as: person) }
            let thread = try await node.client.thread("direct", by: ann, with: [bob])
            let cursor = try await node.client.cursor(of: bob)
            let pollCount = 50
            let path = "/v1/sync?cursor=\(cursor)&wait=50"
            let clients = try [ann, bob].map {
                try SilentClients(pollCount / 2, to: proxy.port, asking: path, as: $0)
            }
            try await eventually("the polls through the proxy") { proxy.connectionCount == pollCount }
            try await eventually("all polls to wait") {
                try await node.metric("parley_polls_waiting") ?? 0 >= Double(pollCount)
            }
            proxy.strand()
            let id = try await node.client.sent("nobody is there", in: thread, as: ann)
            try await traffic.flow(60)
            // All polls were answered, although no client reads, long before the end of their wait.
            try await eventually("only the followers' polls to remain") {
                try await node.metric("parley_polls_waiting") ?? 0 <= 10
            }
            // A client that returns misses nothing.
            let again = try await node.client.sync(bob, from: cursor)
            #expect(again.told.map { $0["data"]["id"].string } == [id])
            clients.forEach { $0.close() }
        }
        try await outcome.checkDelivery(on: node)
        #expect(try await node.metric("parley_polls_waiting") == 0)
        try await node.stop()
    }
}
