// Caddy as in docker/Caddyfile, with this machine's addresses and ports.

import Foundation
import TestSupport

/// A Caddy in front of two nodes. It is killed when the last reference is released.
final class Caddy: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Of HTTPS, or of plain HTTP.
    let address: Address
    /// The port that leads to HTTPS.
    let redirectPort: Int
    private let program: TestProcess
    private let directory: TemporaryDirectory

    private init(_ program: TestProcess, _ address: Address, redirectPort: Int, _ directory: TemporaryDirectory) {
        self.program = program
        self.address = address
        self.redirectPort = redirectPort
        self.directory = directory
    }

    deinit {
        program.send(SIGKILL)
    }

    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/caddy") }

    /// All logs so far.
    var logs: String { String(decoding: program.output, as: UTF8.self) + program.errors }

    /// The certificate of its own authority.
    var authority: String { directory.path + "/data/caddy/pki/authorities/local/root.crt" }

    /// Starts Caddy. It may not listen yet.
    /// - Parameter usesTLS: whether it serves https://localhost; otherwise plain HTTP, as `PARLEY_SITE` may say.
    static func start(_ nodes: [Address], usesTLS: Bool) async throws -> Caddy {
        let directory = try TemporaryDirectory()
        let address = Address(host: "127.0.0.1", port: try Sockets.freePort())
        let redirectPort = try Sockets.freePort()
        // A site of HTTP may not have the port of HTTPS.
        let ports =
            usesTLS ? (http: redirectPort, https: address.port) : (http: address.port, https: redirectPort)
        var text = try String(contentsOf: Repository.file("docker/Caddyfile"), encoding: .utf8)
        // Each replacement must find its text; otherwise the file has changed and this code must follow.
        for (old, new) in [
            ("parley-1:8080 parley-2:8080", nodes.map { "\($0.host):\($0.port)" }.joined(separator: " ")),
            ("\tadmin off\n", "\tadmin off\n\thttp_port \(ports.http)\n\thttps_port \(ports.https)\n"),
        ] {
            guard text.contains(old) else { throw Failure(description: "docker/Caddyfile has no '\(old)'") }
            text = text.replacing(old, with: new)
        }
        let file = directory.path + "/Caddyfile"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let site = usesTLS ? "localhost" : "http://127.0.0.1:\(address.port)"
        let program = try await TestProcess.start(
            ["/usr/bin/caddy", "run", "--config", file, "--adapter", "caddyfile"],
            environment: [
                "PARLEY_SITE": site, "XDG_DATA_HOME": directory.path + "/data",
                "XDG_CONFIG_HOME": directory.path + "/config",
            ])
        return Caddy(program, address, redirectPort: redirectPort, directory)
    }

    /// Starts Caddy for plain HTTP, and waits for it.
    /// - Parameter status: of `/health/live` through the proxy.
    static func start(_ nodes: [Address], status: Int = 200) async throws -> Caddy {
        let caddy = try await start(nodes, usesTLS: false)
        try await eventually("Caddy at \(caddy.address)") {
            if let exit = caddy.program.exit { throw Failure(description: "\(exit): \(caddy.logs)") }
            do {
                return try await Connection(caddy.address).get("/health/live").status == status ? true : nil
            } catch Connection.Failure.notConnected {
                return nil
            }
        }
        return caddy
    }
}
