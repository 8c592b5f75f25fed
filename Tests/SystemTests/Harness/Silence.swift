// Clients that ask and then do nothing: they take no byte of an answer, or are gone without a word.

import Foundation
import TestSupport

/// Connections with a request out, or some at once, that nobody reads from.
final class SilentClients: Sendable {
    private let sockets: [Int32]

    /// - Parameter times: how often each asks; the kernels' buffers alone hold some MiB of answers.
    init(_ count: Int, to port: Int, asking path: String, times: Int = 1, as person: Person) throws {
        let head = "GET \(path) HTTP/1.1\r\nHost: parley\r\nAuthorization: Bearer \(person.token)\r\n\r\n"
        let request = Array(String(repeating: head, count: times).utf8)
        sockets = try (0..<count).map { _ in
            guard let socket = Sockets.connect(.tcp(port)) else { throw Proxy.Failure(code: errno) }
            guard send(socket, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
                throw Proxy.Failure(code: errno)
            }
            return socket
        }
    }

    /// Once.
    func close() { sockets.forEach { Glibc.close($0) } }
}

extension Node {
    /// Of the process, in MiB.
    var residentMemoryMiB: Int {
        let status = (try? String(contentsOfFile: "/proc/\(program.pid)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) / 1_024
    }
}
