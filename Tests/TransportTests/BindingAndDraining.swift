// Binding and draining a server.

import HTTPTypes
import Logging
import NIOCore
import NIOPosix
import Testing

@testable import Transport

@Suite("Binding and draining", .timeLimit(.minutes(1)))
struct BindingAndDraining {
    private static let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    @Test("reports in a sentence that the port is in use")
    func portTaken() async throws {
        try await withServer(handler: echo) { server in
            let error = await #expect(throws: BindError.self) {
                try await HTTPServer.bind(
                    TransportSettings(host: "127.0.0.1", port: server.port), handler: ClosureHandler(body: echo),
                    logger: logger)
            }
            #expect(error?.reason == .portTaken)
            #expect(
                error?.description
                    == "Cannot listen on 127.0.0.1:\(server.port): another process uses this port. Stop it or choose another port."
            )
        }
    }

    @Test("reports that the address is not on this machine, or unknown", arguments: ["192.0.2.1", "no.such.invalid"])
    func badAddress(host: String) async throws {
        let error = await #expect(throws: BindError.self) {
            try await HTTPServer.bind(
                TransportSettings(host: host, port: 0), handler: ClosureHandler(body: echo), logger: logger)
        }
        #expect(error?.reason == (host == "192.0.2.1" ? .addressNotAvailable : .unknownHost))
    }

    @Test("a drain closes idle connections and waits for the answers of the others, which carry Connection: close")
    func drains() async throws {
        let parked = Collected<Reply>()
        try await withServer(handler: { request, reply in
            if request.path == "/idle" { echo(request, reply) } else { parked.add(reply) }
        }) { server in
            let idle = try await RawClient.connect(server.port)
            try await idle.send("GET /idle HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try await idle.answer().status == 200)
            var waiting: [RawClient] = []
            for _ in 0..<50 {
                let client = try await RawClient.connect(server.port)
                try await client.send(Self.get)
                waiting.append(client)
            }
            let replies = await parked.take(50)
            async let drained: Void = server.drain(deadline: .seconds(20))
            #expect(try await idle.rest() == "")
            await #expect(throws: (any Error).self) { try await RawClient.connect(server.port) }
            sendAll([(text("bye"), replies)])
            for client in waiting {
                let answer = try await client.answer()
                #expect(answer.body == "bye")
                #expect(answer.headers["connection"] == "close")
                try await client.close()
            }
            await drained
            #expect(server.statistics.connectionsOpen == 0)
        }
    }

    @Test("a drain cuts off the rest at its deadline, and notifies the handler")
    func deadline() async throws {
        try await withParkingServer { server, parked, gone in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.get)
            // Kept, because releasing the reply would answer.
            let reply = try await parked.next()
            let start = ContinuousClock.now
            await server.drain(deadline: .milliseconds(100))
            #expect(ContinuousClock.now - start < .seconds(5))
            try await gone.next()
            #expect(reply.isClientGone)
            #expect(try await client.rest() == "")
        }
    }

    @Test("while it is closing, each answer closes its connection, and new ones are still accepted")
    func closing() async throws {
        try await withServer(handler: echo) { server in
            server.setClosing()
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.get)
            #expect(try await client.rest().contains("\r\nConnection: close\r\n"))
        }
    }

    @Test("serves on shared event loops, and leaves them running")
    func sharedGroup() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let server = try await HTTPServer.bind(
            TransportSettings(host: "127.0.0.1", port: 0), handler: ClosureHandler(body: echo), group: group,
            logger: logger)
        let client = try await RawClient.connect(server.port)
        try await client.send(Self.get)
        #expect(try await client.answer().status == 200)
        await server.drain(deadline: .seconds(1))
        #expect(try await group.next().submit { true }.get())
    }

    @Test(
        "writes dates in the format of RFC 9110",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
        ])
    func dates(seconds: Int, text: String) {
        #expect(HTTPDate.text(secondsSinceEpoch: seconds) == text)
    }
}
