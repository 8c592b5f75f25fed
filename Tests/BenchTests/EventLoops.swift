// The load generator's client against a server whose answers are scripted byte by byte.
import Foundation
import Testing

@testable import Bench

@Suite("Connections on an event loop", .timeLimit(.minutes(1)))
struct EventLoops {
    /// Collects the connection's reports, and sends the next request.
    private final class Recorder: ConnectionOwner {
        var told: [String] = []
        var requests: [[UInt8]] = []
        let loop: EventLoop
        init(_ loop: EventLoop) { self.loop = loop }

        func connection(_ connection: Connection, received answer: Answer) {
            told.append("\(answer.status) \(answer.body.count)")
            next(connection)
        }

        func connection(_ connection: Connection, failed failure: ConnectionFailure) {
            told.append("\(failure)")
            next(connection)
        }

        func next(_ connection: Connection) {
            if let request = requests.popLast() { connection.send(request) } else { loop.stop() }
        }
    }

    /// Returns a connection's reports while a server answers each request with the next script.
    private func told(_ scripts: [ScriptedServer.Script], requestByteCount: Int = 100) async throws -> [String] {
        let server = try ScriptedServer(scripts)
        return try await onEventLoop("test-loop") { loop in
            let recorder = Recorder(loop)
            let connection = Connection(loop, try Endpoint(url: "http://127.0.0.1:\(server.port)"), owner: recorder)
            recorder.requests = scripts.map { _ in Array(repeating: UInt8(ascii: "x"), count: requestByteCount) }
            loop.schedule(at: .now + 10) { loop.stop() }
            recorder.next(connection)
            loop.run()
            return recorder.told
        }
    }

    private func answer(_ byteCount: Int, _ headers: String = "") -> String {
        "HTTP/1.1 200 OK\r\n\(headers)Content-Length: \(byteCount)\r\n\r\n" + String(repeating: "y", count: byteCount)
    }

    @Test("accept answers larger than any buffer, and requests larger than a socket's", .timeLimit(.minutes(1)))
    func large() async throws {
        let size = 3_000_000
        let told = try await told(
            [.answer(answer(size)), .answer(answer(0))], requestByteCount: ScriptedServer.requestByteCountMax)
        #expect(told == ["200 \(size)", "200 0"])
    }

    @Test("continue with a new connection after one was closed, between answers or within one", .timeLimit(.minutes(1)))
    func closed() async throws {
        let told = try await told([
            .answer(answer(1, "Connection: close\r\n")), .closing(""), .closing("HTTP/1.1 200 OK\r\nContent-"),
            .answer("SSH-2.0\r\n\r\n"), .answer(answer(2)),
        ])
        let closed = "\(ConnectionFailure.closed)"
        #expect(told == ["200 1", closed, closed, "no HTTP answer", "200 2"])
    }

    @Test("report when no server listens", .timeLimit(.minutes(1)))
    func refused() async throws {
        let told = try await onEventLoop("test-loop") { loop in
            let recorder = Recorder(loop)
            // No server listens on port 1 of a machine for tests.
            let connection = Connection(loop, try Endpoint(url: "http://127.0.0.1:1"), owner: recorder)
            loop.schedule(at: .now + 10) { loop.stop() }
            connection.send([1])
            loop.run()
            return recorder.told
        }
        #expect(told == ["no connection: Connection refused"])
    }

    @Test("report a server that has not answered in time", .timeLimit(.minutes(1)))
    func watchdog() async throws {
        let (answerCount, tookNs) = try await onEventLoop("test-loop") { loop in
            let start = MonotonicTime.now
            var answerCount = 0
            let watchdog = AnswerWatchdog(loop, seconds: 0.2) { loop.stop() }
            for number in 1...4 {
                loop.schedule(at: start + 0.1 * Double(number)) {
                    answerCount += 1
                    watchdog.answered()
                }
            }
            loop.run()
            return (answerCount, MonotonicTime.now - start)
        }
        #expect(answerCount == 4)
        #expect(tookNs >= 600_000_000)
    }

    @Test(
        "refuse a text that is not a node's address",
        arguments: ["127.0.0.1:80", "https://localhost", "http://", "http://a@b", "http://h/path", "http://x:notaport"])
    func addresses(url: String) {
        #expect(throws: Endpoint.Failure.self) { try Endpoint(url: url) }
    }
}
