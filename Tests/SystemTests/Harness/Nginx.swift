// nginx as compose has it: the very docker/nginx.conf, with addresses and paths of this machine put in.

import Foundation
import TestSupport

/// A proxy in front of nodes. It is killed when nothing holds it any more.
final class Nginx: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let address: Address
    private let program: Program
    private let directory: TemporaryDirectory

    private init(_ program: Program, _ address: Address, _ directory: TemporaryDirectory) {
        self.program = program
        self.address = address
        self.directory = directory
    }

    deinit {
        program.send(SIGKILL)
    }

    var errors: String { program.errors }

    /// Starts it before three nodes, on a free port.
    static func start(_ nodes: [Address]) async throws -> Nginx {
        let directory = try TemporaryDirectory()
        let address = Address(host: "127.0.0.1", port: try freePort())
        let file = directory.path + "/nginx.conf"
        try configuration(nodes, address, directory.path).write(toFile: file, atomically: true, encoding: .utf8)
        // One process: what ends with the tests must not leave workers behind.
        let program = try await Program.start([
            "/usr/sbin/nginx", "-p", directory.path, "-c", file, "-e", "stderr",
            "-g", "daemon off; master_process off; pid \(directory.path)/pid;",
        ])
        try await eventually("nginx at \(address)") {
            if let exit = program.exit { throw Failure(description: "\(exit): \(program.errors)") }
            return try await Connection(address).get("/health/live").status == 200 ? true : nil
        }
        return Nginx(program, address, directory)
    }

    /// Each replacement must find what it replaces, or the file has changed and this is another one.
    static func configuration(_ nodes: [Address], _ address: Address, _ directory: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        var text = try String(contentsOf: root.appending(path: "docker/nginx.conf"), encoding: .utf8)
        func replace(_ old: String, _ new: String) throws {
            guard text.contains(old) else { throw Failure(description: "docker/nginx.conf has no '\(old)'") }
            text = text.replacing(old, with: new)
        }
        for (index, node) in nodes.enumerated() {
            // Debian's nginx 1.22 doesn't know `resolve`, which 1.27.3 brought.
            try replace("server parley-\(index + 1):8080 resolve ", "server \(node.host):\(node.port) ")
        }
        try replace("    resolver 127.0.0.11 valid=2s ipv6=off;\n", "")
        try replace("listen 80 ", "listen \(address.host):\(address.port) ")
        let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        let paths = kinds.map { "    \($0)_temp_path \(directory)/\($0);\n" }.joined()
        try replace("\nhttp {\n", "\nhttp {\n" + paths)
        return text
    }

    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: "no socket: \(errno)") }
        defer { close(descriptor) }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        inet_pton(AF_INET, "127.0.0.1", &name.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        guard result == 0 else { throw Failure(description: "no port: \(errno)") }
        return Int(UInt16(bigEndian: name.sin_port))
    }
}
