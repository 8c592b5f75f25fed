// Exchanges with servers that speak HTTP/2 and HTTP/1.1 over TLS, and that misbehave.
import Foundation
import TestSupport
import Testing

@testable import Outbound

/// A suite that sends requests to the servers.
private protocol Asking: Sendable {
    var sinks: PushSinks { get }
}

extension Asking {
    func client(
        trusting: Bool = true, allowPrivate: Bool = false, inFlightMax: Int = 200
    ) throws -> Outbound {
        try Outbound(
            caFile: trusting ? sinks.certificate : nil, allowPrivate: allowPrivate, connectionsPerHostMax: 4,
            inFlightMax: inFlightMax, waitingCountMax: 5_000)
    }

    /// Returns a request that the services refuse as incomplete, unless a test makes them misbehave.
    func request(
        _ service: PushSinks.Service = .apns, token: String = "abcd", host: String = "127.0.0.1",
        reach: HTTPExchange.Reach = .anywhere, timeMax: Duration = .seconds(10), needsStatusOnly: Bool = false
    ) -> Transfer {
        let path =
            switch service {
            case .apns: "/3/device/\(token)"
            case .fcm: "/v1/projects/sinks/messages:send"
            case .oauth: "/token"
            case .webpush: "/push/\(token)"
            }
        var exchange = HTTPExchange(
            url: "https://\(host):\(sinks.ports[service] ?? 0)\(path)", headers: [("x-a", "b"), ("x-empty", "")],
            body: Array(#"{"message":{"token":"\#(token)"}}"#.utf8), reach: reach)
        exchange.needsStatusOnly = needsStatusOnly
        var transfer = Transfer(.http(exchange))
        transfer.timeMax = timeMax
        return transfer
    }

    func result(_ client: Outbound, _ transfer: Transfer) async -> Result<TransferAnswer, TransferFailure> {
        await withCheckedContinuation { continuation in
            client.begin([Outbound.Job(transfer) { continuation.resume(returning: $0) }])
        }
    }

    func results(
        _ client: Outbound, count: Int, _ transfer: Transfer
    ) async -> [Result<TransferAnswer, TransferFailure>] {
        await withTaskGroup(of: Result<TransferAnswer, TransferFailure>.self) { group in
            for _ in 0..<count { group.addTask { await result(client, transfer) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    func reason(_ result: Result<TransferAnswer, TransferFailure>) -> String {
        if case .failure(.failed(let reason)) = result { reason } else { "\(result)" }
    }
}

@Suite("Asking web servers", .serialized, .timeLimit(.minutes(1)))
struct AskingWebServers: Asking {
    let sinks: PushSinks

    private static let start = Task { try await PushSinks.start() }

    init() async throws {
        sinks = try await Self.start.value
        for service in PushSinks.Service.allCases {
            try await sinks.restore(service)
            try await sinks.setStreams(100, of: service)
        }
    }

    @Test("returns redirects as they are, and answers' headers in lower case")
    func redirects() async throws {
        let target = "https://127.0.0.1:\(sinks.ports[.webpush] ?? 0)/other"
        try await sinks.behave(
            .answer(307, headers: ["Location": target, "Retry-After": " 7 "]), of: .webpush, times: 1)
        let answer = try await client().perform(request(.webpush))
        #expect(answer.status == 307 && answer.headers["location"] == target && answer.headers["retry-after"] == "7")
    }

    @Test("reads no more of an answer than the limit", arguments: [PushSinks.Service.apns, .webpush])
    func bounds(_ service: PushSinks.Service) async throws {
        let client = try client()
        try await sinks.behave(.answer(200, padding: 60_000), of: service)
        #expect(try await client.perform(request(service)).body.count > 60_000)
        try await sinks.behave(.answer(200, padding: 70_000), of: service)
        #expect(reason(await result(client, request(service))) == "the answer is too large")
        try await sinks.behave(
            .answer(200, headers: ["x-long": String(repeating: "x", count: 17_000)]), of: service)
        #expect(reason(await result(client, request(service))) == "the answer is too large")
        #expect(try await client.perform(request(service)).status >= 400)
    }

    @Test(
        "survives any failure of a request or a connection, and completes the others",
        arguments: [
            PushSinks.Behaviour.refuse, .reset, .drop, .torn, .lost, .goAway, .goAwayAfter,
        ])
    func faults(_ behaviour: PushSinks.Behaviour) async throws {
        let client = try client()
        _ = try await client.perform(request())
        try await sinks.behave(behaviour, of: .apns, for: "bad0")
        async let bad = result(client, request(token: "bad0"))
        let others = await results(client, count: 20, request())
        // libcurl repeats some requests by itself. Each must end, and not by a timeout.
        for result in others + [await bad] {
            switch result {
            case .success(let answer): #expect(answer.status == 403)
            case .failure(let failure): if case .failed = failure {} else { Issue.record("\(failure)") }
            }
        }
        #expect(try await client.perform(request()).status == 403)
    }

    @Test("accepts an answer that arrives before the server has read the request", arguments: [10, 200_000])
    func early(_ byteCount: Int) async throws {
        let client = try client()
        for _ in 0..<2 {
            try await sinks.behave(.early(201), of: .apns)
            let exchange = HTTPExchange(
                url: sinks.url(.apns) + "/3/device/abcd", headers: [], body: Array(repeating: 0x20, count: byteCount),
                reach: .anywhere)
            #expect(try await client.perform(Transfer(.http(exchange))).status == 201)
        }
        #expect(try await client.perform(request()).status == 403)
    }

    @Test(
        "accepts a 2xx answer without its end where only the status counts",
        arguments: [PushSinks.Service.apns, .webpush])
    func torn(_ service: PushSinks.Service) async throws {
        let client = try client()
        for (status, needsStatusOnly) in [(200, true), (201, true), (200, false), (503, true)] {
            try await sinks.behave(.torn(status), of: service)
            let result = await result(client, request(service, needsStatusOnly: needsStatusOnly))
            if needsStatusOnly, status < 300 {
                #expect((try? result.get())?.status == status)
            } else if case .failure(.failed) = result {
            } else {
                Issue.record("\(status): \(result)")
            }
        }
    }

    @Test("closes a connection that stops answering, and sends the next request on another")
    func dumb() async throws {
        let client = try client()
        _ = try await client.perform(request())
        let before = try sinks.connectionCount(of: .apns)
        try await sinks.behave(.hang, of: .apns, times: 1_000)
        let results = await results(client, count: 3, request(timeMax: .milliseconds(300)))
        // The other transfers may see the connection's end first.
        #expect(results.contains(.failure(.timedOut)) && !results.contains { (try? $0.get()) != nil })
        try await sinks.restore(.apns)
        #expect(try await client.perform(request(timeMax: .seconds(3))).status == 403)
        #expect(try sinks.connectionCount(of: .apns) > before)
    }

    @Test(
        "connects to no private address that a client's URL names, however it is written",
        arguments: [
            "127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "127.1", "0.0.0.0", "[::]",
            "10.0.0.1", "169.254.169.254",
        ])
    func guarded(_ host: String) async throws {
        let client = try client()
        let before = try sinks.connectionCount(of: .webpush)
        let result = await result(client, request(.webpush, host: host, reach: .publicOnly))
        #expect(result == .failure(.forbidden(reason: "its address is not a public one")))
        #expect(try sinks.connectionCount(of: .webpush) == before)
    }

    @Test("reuses no connection to a private address, and sends neither unencrypted nor with a password; tests may")
    func guardedReuse() async throws {
        let client = try client()
        #expect(try await client.perform(request(.webpush)).status == 404)
        let before = try sinks.requestCount(of: .webpush)
        let guarded = await result(client, request(.webpush, reach: .publicOnly))
        #expect(guarded == .failure(.forbidden(reason: "its address is not a public one")))
        let clear = HTTPExchange(url: "http://192.0.2.1/", headers: [], body: [], reach: .publicOnly)
        guard case .failure(.forbidden) = await result(client, Transfer(.http(clear))) else {
            Issue.record("it was sent unencrypted")
            return
        }
        let named = HTTPExchange(url: "https://a:b@192.0.2.1/", headers: [], body: [], reach: .publicOnly)
        if case .success = await result(client, Transfer(.http(named))) { Issue.record("it has a password") }
        #expect(try sinks.requestCount(of: .webpush) == before)
        let open = try self.client(allowPrivate: true)
        #expect(try await open.perform(request(.webpush, reach: .publicOnly)).status == 404)
    }

    @Test("sends nothing to an untrusted server, and no header that contains a line break")
    func untrusted() async throws {
        let before = try sinks.requestCount(of: .apns)
        #expect(reason(await result(try client(trusting: false), request())).contains("certificate"))
        for header in [("x-a", "b\r\nx-c: d"), ("x-a\nb", "c"), ("x-a", "b\u{0}c")] {
            let exchange = HTTPExchange(url: sinks.url(.apns), headers: [header], body: [], reach: .anywhere)
            #expect(reason(await result(try client(), Transfer(.http(exchange)))).contains("refused the transfer"))
        }
        #expect(try sinks.requestCount(of: .apns) == before)
    }

    @Test("ignores proxies that the environment names")
    func noProxy() async throws {
        let environment = ProcessInfo.processInfo.environment
        let names = ["https_proxy": "http://127.0.0.1:1", "no_proxy": "", "NO_PROXY": ""]
        for (name, value) in names { setenv(name, value, 1) }
        defer {
            for name in names.keys {
                if let value = environment[name] { setenv(name, value, 1) } else { unsetenv(name) }
            }
        }
        #expect(try await client().perform(request(.webpush)).status == 404)
    }

    @Test("ends all transfers when it is closed, also those that wait for a connection")
    func closes() async throws {
        try await sinks.setStreams(1, of: .apns)
        try await sinks.behave(.hang, of: .apns, times: 30)
        let client = try client()
        async let hanging = results(client, count: 20, request())
        try await eventually("a connection") { try sinks.openConnectionCount(of: .apns) > 0 }
        client.close(within: .milliseconds(50))
        for result in await hanging { #expect(result == .failure(.closed)) }
    }
}

// Each test has its own servers, because a server may count another test's connection late.
@Suite("Connections to web servers", .serialized, .timeLimit(.minutes(1)))
struct ConnectingToWebServers: Asking {
    let sinks: PushSinks

    init() async throws { sinks = try await PushSinks.start() }

    @Test("sends a burst over one HTTP/2 connection, and returns each request its answer")
    func burst() async throws {
        let client = try client()
        for result in await results(client, count: 100, request()) {
            let answer = try result.get()
            #expect(answer.status == 403 && answer.body == Array(#"{"reason":"MissingProviderToken"}"#.utf8))
        }
        #expect(try sinks.connectionCount(of: .apns) == 1)
    }

    @Test("opens at most the configured connections to a host, and the other requests wait for a stream")
    func fewConnections() async throws {
        let service = PushSinks.Service.fcm
        // The server refuses requests sent before its settings arrived. libcurl repeats each of them five times, which
        // may not be enough on a busy machine: then the caller repeats them, as the sender of alerts does.
        try await sinks.setStreams(20, of: service)
        try await sinks.behave(.slow(seconds: 0.05), of: service, times: 1_000)
        let client = try client()
        var missingCount = 200
        for _ in 1...5 where missingCount > 0 {
            for result in await results(client, count: missingCount, request(service)) {
                if case .failure(.failed(reason: let reason)) = result, reason.hasPrefix("Connection died") { continue }
                #expect(try result.get().status == 401)
                missingCount -= 1
            }
        }
        #expect(missingCount == 0)
        let count = try sinks.peakConnectionCount(of: service)
        #expect((2...4).contains(count))
    }

    @Test("sends one request at a time to a server that allows one stream")
    func slowStart() async throws {
        try await sinks.setStreams(1_000, atFirst: 1, of: .apns)
        try await sinks.behave(.slow(seconds: 0.02), of: .apns, times: 1_000)
        let client = try client()
        for result in await results(client, count: 150, request()) { #expect(try result.get().status == 403) }
        #expect(try sinks.requestCount(of: .apns) == 150)
        #expect((1...4).contains(try sinks.connectionCount(of: .apns)))
    }

    @Test("speaks HTTP/1.1 to a server without HTTP/2, and keeps its connections")
    func oldProtocol() async throws {
        let client = try client()
        for _ in 0..<5 {
            let answer = try await client.perform(request(.webpush))
            #expect(answer.status == 404 && answer.headers["content-length"] == "45")
        }
        #expect(try sinks.connectionCount(of: .webpush) == 1)
    }

    @Test("cancels a request that takes too long, while others on its connection continue")
    func slow() async throws {
        let client = try client()
        _ = try await client.perform(request())
        try await sinks.behave(.hang, of: .apns, for: "bad1")
        let ends = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let late = await result(client, request(token: "bad1", timeMax: .milliseconds(600)))
                #expect(late == .failure(.timedOut))
                ends.add()
            }
            // Before and during the cancellation.
            repeat {
                let answer = try await client.perform(request())
                #expect(answer.status == 403)
            } while ends.value == 0
        }
        #expect(try await client.perform(request()).status == 403)
        #expect(try sinks.connectionCount(of: .apns) == 1)
    }
}
