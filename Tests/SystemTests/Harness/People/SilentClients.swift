// Clients that send requests and then do nothing: they read no byte of the answer, or vanish without closing.

import Foundation
import TestSupport
import Testing

/// Connections that have sent one or more requests and read no answer.
final class SilentClients: Sendable {
    private let sockets: [Int32]

    /// - Parameter times: requests on each connection; the kernel's buffers alone hold some MiB of answers.
    init(_ count: Int, to port: Int, asking path: String, times: Int = 1, as person: Person) throws {
        let head = "GET \(path) HTTP/1.1\r\nHost: parley\r\nAuthorization: Bearer \(person.token)\r\n\r\n"
        let request = Array(String(repeating: head, count: times).utf8)
        var sockets: [Int32] = []
        do {
            for _ in 0..<count {
                guard let socket = Sockets.connect(.tcp(port)) else { throw Proxy.Failure(code: errno) }
                sockets.append(socket)
                guard send(socket, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
                    throw Proxy.Failure(code: errno)
                }
            }
        } catch {
            sockets.forEach { Glibc.close($0) }
            throw error
        }
        self.sockets = sockets
    }

    /// Closes the connections. May be called once.
    func close() { sockets.forEach { Glibc.close($0) } }
}

/// A thread whose pages have the largest size, for clients that do not read them.
struct LargePages: Sendable {
    let person: Person
    let path: String

    static func write(at caller: some Caller) async throws -> LargePages {
        let person = try await caller.register("Ann")
        let thread = try await caller.thread("group", by: person, with: [])
        let payload: JSON = [
            "type": "x-large", "payload": ["x": .string(String(repeating: "x" as Character, count: 60_000))],
        ]
        for _ in 0..<40 {
            let answer = try await caller.post("/v1/threads/\(thread)/messages", payload, as: person)
            try #require(answer.status == 201, "\(answer)")
        }
        return LargePages(person: person, path: "/v1/threads/\(thread)/messages?limit=200")
    }

    /// Connections that each requested more than the kernel buffers.
    func slowReaders(_ count: Int, of address: Address) throws -> SilentClients {
        try SilentClients(count, to: address.port, asking: path, times: 8, as: person)
    }
}

extension Node {
    /// The resident memory of the process, in MiB.
    var residentMemoryMiB: Int {
        let status = (try? String(contentsOfFile: "/proc/\(program.pid)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) / 1_024
    }
}
