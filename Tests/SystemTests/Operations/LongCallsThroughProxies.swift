// Every call that takes long, through the proxies of docker/ as they stand: times, buffers, and clients that leave.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite(
        "A long call through a proxy",
        .enabled(if: Tool.permits(Caddy.isInstalled), "caddy is not installed (.ci/deps test)"),
        .timeLimit(.minutes(4)))
    struct LongCallsThroughProxies {
        private static let adminToken = "admin-of-the-long-calls"
        private let admin = Person(id: "", username: "", password: "", session: "", token: Self.adminToken)
        private let node: Node
        private let nginx: Nginx
        private let caddy: Caddy

        init() async throws {
            node = try await Node.start(
                database: TestCluster.shared().createDatabase(),
                settings: ["PARLEY_ADMIN_TOKEN": Self.adminToken, "PARLEY_TRUSTED_PROXIES": "127.0.0.1/32"])
            nginx = try await Nginx.start([node.address, node.address])
            caddy = try await Caddy.start([node.address, node.address])
        }

        private var proxies: [(name: String, address: Address)] {
            [("nginx", nginx.address), ("Caddy", caddy.address)]
        }

        @Test("waits its longest, and ends with an answer of the node: the poll and the changes feed")
        func polls() async throws {
            let ann = try await node.client.register("Ann")
            let cursor = try await node.client.cursor(of: ann)
            let feed = try await node.client.get("/v1/admin/changes", as: admin).json["cursor"].string ?? ""
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (name, address) in proxies {
                    for (path, person) in [
                        ("/v1/sync?cursor=\(cursor)", ann), ("/v1/admin/changes?cursor=\(feed)", admin),
                    ] {
                        group.addTask {
                            var request = Request("GET", path + "&wait=55")
                            request.headers = [("Authorization", "Bearer \(person.token)")]
                            request.waitMax = .seconds(75)
                            let began = ContinuousClock.now
                            let answer = try await Connection(address).send(request)
                            #expect(answer.status == 200 && answer.json["events"].items.isEmpty, "\(name): \(answer)")
                            #expect(began.duration(to: .now) > .seconds(50), "\(name), \(path)")
                        }
                    }
                }
                try await group.waitForAll()
            }
        }

        @Test("passes each event of a stream at once, and ends on the node when its client leaves")
        func streams() async throws {
            let ann = try await node.client.register("Ann")
            let ben = try await node.client.register("Ben")
            let thread = try await node.client.thread("direct", by: ann, with: [ben])
            for (name, address) in proxies {
                let cursor = try await node.client.cursor(of: ben)
                let stream = try await EventSource(Connection(address), as: ben, from: cursor)
                for number in 1...3 {
                    let id = try await node.client.sent("\(number)", in: thread, as: ann)
                    // A buffer would keep the event until it is full, or until the stream ends.
                    let event = try #require(try await stream.events(1, within: .seconds(15)).first)
                    #expect(event.json["data"]["id"].string == id, "\(name): \(event)")
                }
                #expect(try await node.metric("parley_streams") == 1)
                await stream.connection.close()
                try await eventually("the end of the stream behind \(name)") {
                    try await node.metric("parley_streams") == 0
                }
            }
            // A poll whose client leaves ends, too. Nothing happens to Cleo that would end it before: Ben's polls report
            // what he has received.
            let cleo = try await node.client.register("Cleo")
            for (name, address) in proxies {
                let cursor = try await node.client.cursor(of: cleo)
                var request = Request("GET", "/v1/sync?wait=55&cursor=\(cursor)")
                request.headers = [("Authorization", "Bearer \(cleo.token)")]
                let connection = Connection(address)
                try await connection.begin(request)
                try await node.waitForPolls()
                await connection.close()
                try await eventually("the end of the poll behind \(name)") {
                    try await node.metric("parley_polls_waiting") == 0
                }
            }
        }

        @Test("brings the bytes of an upload to the node while the client still sends, and keeps them if it breaks off")
        func uploads() async throws {
            let ann = try await node.client.register("Ann")
            let direct = Connection(node.address)
            for (name, address) in proxies {
                let file = TestFile.random(3_000_000)
                let id = newID()
                let upload = try await RawUpload.begin(Attachments.path(id), at: address, as: ann, .length(file.count))
                try await upload.send(file.bytes.prefix(1_500_000))
                try await eventually("bytes of the upload behind \(name)") {
                    try await direct.progress(of: id, as: ann).offset ?? 0 >= 262_144 ? true : nil
                }
                await upload.connection.close()
                // The upload continues through the proxy where it broke off, which a client asks for again after a 409.
                try await eventually("the rest of the upload behind \(name)") {
                    let offset = try await direct.progress(of: id, as: ann).offset ?? 0
                    let answer = try await Connection(address).append(
                        file.bytes[offset...], to: id, at: offset, complete: true, as: ann)
                    return answer.status == 201 ? true : nil
                }
                #expect(try await Connection(address).download(id, as: ann).digest == file.digest, "\(name)")
            }
        }
    }
}
