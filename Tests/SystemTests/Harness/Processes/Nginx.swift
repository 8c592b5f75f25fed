// nginx as in compose: docker/nginx.conf itself, with this machine's addresses and paths.

import Foundation
import TestSupport

/// A proxy in front of nodes. It is killed when the last reference is released.
final class Nginx: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let address: Address
    private let program: TestProcess
    private let directory: TemporaryDirectory

    private init(_ program: TestProcess, _ address: Address, _ directory: TemporaryDirectory) {
        self.program = program
        self.address = address
        self.directory = directory
    }

    deinit {
        program.send(SIGKILL)
    }

    /// The error log and the access log so far.
    var errors: String { program.errors }
    var accesses: String { String(decoding: program.output, as: UTF8.self) }

    /// Starts nginx in front of three nodes, on a free port.
    /// - Parameters:
    ///   - limitsRates: whether it keeps the bounds of requests and polls a second. All people of a test have one address,
    ///     and together they ask more often than one address may.
    ///   - status: of `/health/live` through the proxy.
    static func start(_ nodes: [Address], limitsRates: Bool = false, status: Int = 200) async throws -> Nginx {
        let directory = try TemporaryDirectory()
        let address = Address(host: "127.0.0.1", port: try Sockets.freePort())
        let file = directory.path + "/nginx.conf"
        try configuration(nodes, address, directory.path, limitsRates: limitsRates)
            .write(toFile: file, atomically: true, encoding: .utf8)
        // One process, because a killed nginx master would leave its workers behind.
        let program = try await TestProcess.start([
            "/usr/sbin/nginx", "-p", directory.path, "-c", file, "-e", "stderr",
            "-g", "daemon off; master_process off; pid \(directory.path)/pid;",
        ])
        let nginx = Nginx(program, address, directory)
        try await eventually("nginx at \(address)") {
            if let exit = program.exit { throw Failure(description: "\(exit): \(program.errors)") }
            return try await Connection(address).get("/health/live").status == status ? true : nil
        }
        return nginx
    }

    /// Each replacement must find its text; otherwise docker/nginx.conf has changed and this code must follow.
    static func configuration(
        _ nodes: [Address], _ address: Address, _ directory: String, limitsRates: Bool
    ) throws -> String {
        var text = try String(contentsOf: Repository.file("docker/nginx.conf"), encoding: .utf8)
        func replace(_ old: String, _ new: String) throws {
            guard text.contains(old) else { throw Failure(description: "docker/nginx.conf has no '\(old)'") }
            text = text.replacing(old, with: new)
        }
        for (index, node) in nodes.enumerated() {
            // Debian's nginx 1.22 does not support `resolve`, which 1.27.3 introduced.
            try replace("server parley-\(index + 1):8080 resolve ", "server \(node.host):\(node.port) ")
        }
        try replace("    resolver 127.0.0.11 valid=2s ipv6=off;\n", "")
        try replace("listen 80 ", "listen \(address.host):\(address.port) ")
        if !limitsRates {
            for rate in ["rate=500r/s", "rate=1000r/s"] { try replace(rate, "rate=100000r/s") }
        }
        let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        let paths = kinds.map { "    \($0)_temp_path \(directory)/\($0);\n" }.joined()
        try replace("\nhttp {\n", "\nhttp {\n" + paths)
        return text
    }
}
