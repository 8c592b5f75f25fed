// The transport against a server that misbehaves.
import Foundation
import Testing

@testable import Parley

@Suite("The system's transport", .timeLimit(.minutes(1)))
struct Transport {
    @Test(
        "Every method arrives with its body and headers, and the answer comes back",
        arguments: ["GET", "POST", "PATCH"])
    func echo(_ method: String) async throws {
        let server = try MisbehavingServer()
        var request = server.request("/echo", method)
        if method != "GET" { request.body = Data("bytes\0\u{1}".utf8) }
        request.headers = ["x-test": "one, two", "content-type": "application/partial-upload"]
        let answer = try await SystemTransport().send(request)
        #expect(answer.status == 299)
        #expect(answer["x-answer"] == "yes")
        let text = String(decoding: answer.body, as: UTF8.self)
        let lines = text.components(separatedBy: "\r\n")
        #expect(lines.first == "\(method) /echo HTTP/1.1")
        #expect(lines.contains("x-test: one, two"))
        #expect(lines.contains("content-type: application/partial-upload"))
        #expect(lines.allSatisfy { !$0.hasPrefix("Expect") })
        if method != "GET" { #expect(lines.last == "bytes\0\u{1}") }
    }

    @Test(
        "A connection that closes anywhere is an error that may be repeated", arguments: ["/nothing", "/half", "/body"])
    func cuts(_ path: String) async throws {
        let server = try MisbehavingServer()
        let error = await #expect(throws: ParleyError.self) { try await SystemTransport().send(server.request(path)) }
        #expect(error?.isTemporary == true)
    }

    @Test("A server that is not there is an error that names its cause")
    func cause() async throws {
        let nobody = HTTPRequest(method: "GET", url: try #require(URL(string: "http://127.0.0.1:1/")))
        let error = await #expect(throws: ParleyError.self) { try await SystemTransport().send(nobody) }
        #expect(error?.kind == .noAnswer && error?.detail.contains("The server did not answer: ") == true)
        #expect((error?.cause as? CurlError)?.code == 7)  // CURLE_COULDNT_CONNECT
    }

    @Test("A redirect is not followed, and HEAD has no body")
    func redirect() async throws {
        let server = try MisbehavingServer()
        #expect(try await SystemTransport().send(server.request("/redirect")).status == 307)
        let head = try await SystemTransport().send(server.request("/echo", "HEAD"))
        #expect(head.status == 299)
        #expect(head.body.isEmpty)
    }

    @Test("A cancelled task ends at once, and a silent server ends with the timeout")
    func silence() async throws {
        let server = try MisbehavingServer()
        let task = Task { try await SystemTransport().send(server.request("/silence")) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let request = server.request("/silence", timeout: .seconds(1))
        await #expect(throws: ParleyError.self) { try await SystemTransport().send(request) }
    }
}

/// A server of a few lines of Python. It ends with this value.
private final class MisbehavingServer: Sendable {
    private let process: Process
    private let port: Int

    init() throws {
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-c", Self.script]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        port = try #require(Int(line.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    // This process may block SIGTERM, and the child has its mask.
    deinit { kill(process.processIdentifier, SIGKILL) }

    func request(_ path: String, _ method: String = "GET", timeout: Duration = .seconds(10)) -> HTTPRequest {
        let url = URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(filePath: "/")
        return HTTPRequest(method: method, url: url, timeout: timeout)
    }

    private static let script = #"""
        import re, socketserver, time

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                data = b""
                while b"\r\n\r\n" not in data:
                    data += self.request.recv(65536)
                head, _, body = data.partition(b"\r\n\r\n")
                length = int((re.search(rb"(?i)content-length: (\d+)", head) or [0, 0])[1])
                while len(body) < length:
                    body += self.request.recv(65536)
                path = head.split()[1]
                if path == b"/echo":
                    echo = head + b"\r\n\r\n" + body
                    answer = b"HTTP/1.1 299 Fine\r\nX-Answer: yes\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(echo)
                    self.request.sendall(answer + (b"" if head.startswith(b"HEAD") else echo))
                elif path == b"/half":
                    self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-")
                elif path == b"/body":
                    self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart")
                elif path == b"/redirect":
                    self.request.sendall(b"HTTP/1.1 307 Elsewhere\r\nLocation: /echo\r\nContent-Length: 0\r\n\r\n")
                elif path == b"/silence":
                    time.sleep(20)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

        server = Server(("127.0.0.1", 0), Handler)
        print(server.server_address[1], flush=True)
        server.serve_forever()
        """#
}
