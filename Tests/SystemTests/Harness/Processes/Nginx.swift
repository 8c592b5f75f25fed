// nginx as in the examples of docker/, with this machine's addresses and paths.

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

    /// A file of docker/ that tests run as it stands, but for this machine's addresses and paths.
    enum Example {
        /// nginx.conf, for containers.
        case containers
        /// nginx-site.conf, for machines of their own. With a certificate, it serves HTTPS.
        case machines(certificate: String, key: String)
    }

    /// Starts nginx in front of two nodes, on a free port.
    /// - Parameters:
    ///   - limitsRates: whether it keeps the bounds of requests and polls a second. All people of a test have one address,
    ///     and together they ask more often than one address may.
    ///   - status: of `/health/live` through the proxy.
    static func start(_ nodes: [Address], limitsRates: Bool = false, status: Int = 200) async throws -> Nginx {
        let nginx = try await start(.containers, nodes, limitsRates: limitsRates)
        try await eventually("nginx at \(nginx.address)") {
            if let exit = nginx.program.exit { throw Failure(description: "\(exit): \(nginx.errors)") }
            return try await Connection(nginx.address).get("/health/live").status == status ? true : nil
        }
        return nginx
    }

    /// Starts nginx. It may not listen yet.
    static func start(_ example: Example, _ nodes: [Address], limitsRates: Bool = false) async throws -> Nginx {
        let directory = try TemporaryDirectory()
        let address = Address(host: "127.0.0.1", port: try Sockets.freePort())
        try FileManager.default.createDirectory(
            atPath: directory.path + "/snippets", withIntermediateDirectories: false)
        for name in ["parley-http.conf", "parley-server.conf"] {
            var snippet = try Text(name)
            if name == "parley-http.conf", !limitsRates {
                for rate in ["rate=500r/s", "rate=1000r/s"] { try snippet.replace(rate, "rate=100000r/s") }
            }
            try snippet.text.write(toFile: directory.path + "/snippets/" + name, atomically: true, encoding: .utf8)
        }
        let file = directory.path + "/nginx.conf"
        try configuration(example, nodes, address, directory.path)
            .write(toFile: file, atomically: true, encoding: .utf8)
        // One process, because a killed nginx master would leave its workers behind.
        let program = try await TestProcess.start([
            "/usr/sbin/nginx", "-p", directory.path, "-c", file, "-e", "stderr",
            "-g", "daemon off; master_process off; pid \(directory.path)/pid;",
        ])
        return Nginx(program, address, directory)
    }

    /// A file of docker/. Each replacement must find its text; otherwise the file has changed and this code must follow.
    private struct Text {
        let name: String
        var text: String

        init(_ name: String) throws {
            self.name = name
            text = try String(contentsOf: Repository.file("docker/" + name), encoding: .utf8)
        }

        mutating func replace(_ old: String, _ new: String) throws {
            guard text.contains(old) else { throw Failure(description: "docker/\(name) has no '\(old)'") }
            text = text.replacing(old, with: new)
        }
    }

    private static func configuration(
        _ example: Example, _ nodes: [Address], _ address: Address, _ directory: String
    ) throws -> String {
        let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        let paths = kinds.map { "    \($0)_temp_path \(directory)/\($0);\n" }.joined()
        switch example {
        case .containers:
            var file = try Text("nginx.conf")
            for (index, node) in nodes.enumerated() {
                // Debian's nginx 1.22 does not support `resolve`, which 1.27.3 introduced.
                try file.replace("server parley-\(index + 1):8080 resolve ", "server \(node.host):\(node.port) ")
            }
            try file.replace("    resolver 127.0.0.11 valid=2s ipv6=off;\n", "")
            try file.replace("listen 80 ", "listen \(address.host):\(address.port) ")
            try file.replace("\nhttp {\n", "\nhttp {\n" + paths)
            return file.text
        case .machines(let certificate, let key):
            var file = try Text("nginx-site.conf")
            for (index, node) in nodes.enumerated() {
                try file.replace("server 10.0.0.1\(index + 1):8080 ", "server \(node.host):\(node.port) ")
            }
            try file.replace("listen 80 ", "listen \(address.host):\(try Sockets.freePort()) ")
            try file.replace("listen 443 ", "listen \(address.host):\(address.port) ")
            try file.replace("/etc/letsencrypt/live/chat.example.org/fullchain.pem", certificate)
            try file.replace("/etc/letsencrypt/live/chat.example.org/privkey.pem", key)
            try file.replace("/var/log/nginx/parley.log", "/dev/stdout")
            return "events {}\nhttp {\n\(paths)\(file.text)}\n"
        }
    }
}
