// Transfers that begin together, and handles that serve one transfer after another, on the test's own sockets.
import Foundation
import TestSupport
import Testing

@testable import Outbound

@Suite("Sending together", .timeLimit(.minutes(1)))
struct SendingTogether {
    @Test("bytes written together leave together, and not before")
    func together() throws {
        let (listener, port) = try Sockets.listener()
        defer { close(listener) }
        let connections = OpenConnections()
        let socket = connections.open(
            to: "http://127.0.0.1:\(port)", family: AF_INET, type: Int32(SOCK_STREAM.rawValue), protocol: 0)
        defer { _ = connections.close(socket) }
        var address = Sockets.loopback(port)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isConnected)
        let peer = accept(listener, nil, nil)
        defer { close(peer) }
        #expect(arrived(peer, withinMs: 0) == "")
        connections.together {
            for part in ["one", "two"] { send(socket, part, part.utf8.count, 0) }
            #expect(arrived(peer, withinMs: 20) == "")
        }
        #expect(arrived(peer, withinMs: 2_000) == "onetwo")
        send(socket, "three", 5, 0)
        #expect(arrived(peer, withinMs: 2_000) == "three")
    }

    /// Returns the bytes of one read.
    private func arrived(_ socket: Int32, withinMs time: Int32) -> String {
        var wish = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&wish, 1, time) == 1 else { return "" }
        var bytes = [UInt8](repeating: 0, count: 1_000)
        let count = recv(socket, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    @Test("a request contains nothing of the request before it, and keeps its connection")
    func nothingLeft() async throws {
        let (listener, port) = try Sockets.listener()
        defer { close(listener) }
        let client = try Outbound()
        async let taken = Self.take(3, from: listener)
        let url = "http://127.0.0.1:\(port)"
        for exchange in [
            HTTPExchange(
                url: url + "/first", headers: [("x-a", "b"), ("content-type", "text/plain")], body: Array("first".utf8),
                reach: .anywhere),
            HTTPExchange(url: url + "/second", headers: [], body: [], reach: .anywhere),
            HTTPExchange(url: url + "/third", headers: [("x-c", "")], body: Array("3".utf8), reach: .anywhere),
        ] {
            #expect(try await client.perform(Transfer(.http(exchange))).status == 204)
        }
        let host = "Host: 127.0.0.1:\(port)\r\nAccept: */*\r\n"
        #expect(
            await taken == [
                "POST /first HTTP/1.1\r\n\(host)x-a: b\r\ncontent-type: text/plain\r\nContent-Length: 5\r\n\r\nfirst",
                "POST /second HTTP/1.1\r\n\(host)Content-Length: 0\r\n\r\n",
                "POST /third HTTP/1.1\r\n\(host)x-c:\r\nContent-Length: 1\r\n\r\n3",
            ])
    }

    /// Reads `count` requests, each in one read, from the first client that connects, and answers them.
    /// Waits 10 s for each.
    private static func take(_ count: Int, from listener: Int32) async -> [String] {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                // An accepted socket inherits the timeout of the listener.
                var patience = timeval(tv_sec: 10, tv_usec: 0)
                setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
                let peer = accept(listener, nil, nil)
                defer { close(peer) }
                var requests: [String] = []
                var bytes = [UInt8](repeating: 0, count: 10_000)
                for _ in 0..<count {
                    let byteCount = recv(peer, &bytes, bytes.count, 0)
                    requests.append(String(decoding: bytes.prefix(max(0, byteCount)), as: UTF8.self))
                    let answer = "HTTP/1.1 204 No Content\r\n\r\n"
                    send(peer, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
                }
                continuation.resume(returning: requests)
            }
        }
    }

    @Test("transfers that begin together fail at once when there is no room for them")
    func overfull() async throws {
        // No server answers there.
        let (listener, port) = try Sockets.listener()
        defer { close(listener) }
        let client = try Outbound(inFlightMax: 1, waitingCountMax: 2)
        let exchange = HTTPExchange(url: "http://127.0.0.1:\(port)", headers: [], body: [], reach: .anywhere)
        let ends = AsyncStream.makeStream(of: TransferFailure?.self)
        client.begin(
            (0..<5).map { _ in
                Outbound.Job(Transfer(.http(exchange))) { result in
                    if case .failure(let failure) = result { ends.continuation.yield(failure) }
                }
            })
        client.close(within: .zero)
        var failures: [TransferFailure?] = []
        for await failure in ends.stream {
            failures.append(failure)
            if failures.count == 5 { break }
        }
        #expect(failures == [.overloaded, .overloaded, .overloaded, .closed, .closed])
    }
}
