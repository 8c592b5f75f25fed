// `parley serve` as a process: start, wait, signal, stop.

import Foundation
import TestSupport
import Testing

/// The executable under test.
enum Parley {
    /// Beside the test bundle, where the build puts both; or what PARLEY_EXECUTABLE says.
    static let executable: String = {
        if let path = ProcessInfo.processInfo.environment["PARLEY_EXECUTABLE"] { return path }
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: own).deletingLastPathComponent().path + "/parley"
    }()

    struct Outcome: Sendable {
        let exit: TestProcess.Exit
        let output: String
        let errors: String
    }

    /// Runs it to its end, for starts that fail and for commands that end by themselves.
    static func run(
        _ arguments: [String], settings: [String: String] = [:], within limit: Duration = .seconds(30)
    ) async throws -> Outcome {
        let program = try await TestProcess.start([executable] + arguments, environment: settings)
        let exit = try await program.waitForExit(within: limit)
        return Outcome(exit: exit, output: String(decoding: program.output, as: UTF8.self), errors: program.errors)
    }
}

/// A running node. It is killed when nothing holds it any more.
final class Node: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let program: TestProcess
    let address: Address
    /// What it printed when it was ready.
    let readyLine: String
    let curl: Curl

    private init(_ program: TestProcess, _ address: Address, readyLine: String) {
        self.program = program
        self.address = address
        self.readyLine = readyLine
        curl = Curl(address: address)
    }

    deinit {
        program.send(SIGKILL)
    }

    /// Starts a node and returns once it says that it is ready. `database` is libpq's; nil for a PostgreSQL of its own.
    /// - Throws: with all that it printed, if it ends or isn't ready in time.
    static func start(
        database: String?, port: Int = 0, settings: [String: String] = [:], arguments: [String] = [],
        within limit: Duration = .seconds(30)
    ) async throws -> Node {
        var environment = settings
        environment["PARLEY_HTTP_PORT"] = environment["PARLEY_HTTP_PORT"] ?? "\(port)"
        // Tests do in seconds what people do in a day; those of the limits say so.
        environment["PARLEY_RATE_LIMITS"] = environment["PARLEY_RATE_LIMITS"] ?? "off"
        if let database { environment["PARLEY_DATABASE_URL"] = database }
        let program = try await TestProcess.start([Parley.executable, "serve"] + arguments, environment: environment)
        do {
            let line = try await eventually("a ready node", within: limit) { () -> String? in
                if let exit = program.exit { return "ended: \(exit)" }
                let output = String(decoding: program.output, as: UTF8.self)
                return output.contains("\n") ? output : nil
            }
            guard let match = line.firstMatch(of: /https?:\/\/([0-9.]+):([0-9]+)/), let port = Int(match.2) else {
                throw Failure(description: line)
            }
            return Node(program, Address(host: String(match.1), port: port), readyLine: line)
        } catch {
            program.send(SIGKILL)
            throw Failure(description: "\(error)\n\(program.errors)")
        }
    }

    /// Asks it to end, then how it ended and how long that took. Killed after 20 s.
    @discardableResult
    func stop(
        by signal: Int32 = SIGTERM, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> (exit: TestProcess.Exit, took: Duration) {
        let ended = try await end(by: signal)
        // It would leave without an orderly end rather than too late, and says so.
        #expect(!program.errors.contains("too long"), "\(program.errors)", sourceLocation: sourceLocation)
        return ended
    }

    /// The same, whether it says that it took too long or not.
    func end(by signal: Int32 = SIGTERM) async throws -> (exit: TestProcess.Exit, took: Duration) {
        let clock = ContinuousClock()
        let start = clock.now
        program.send(signal)
        let exit = try await program.waitForExit(within: .seconds(20))
        return (exit, start.duration(to: clock.now))
    }

    /// Has it do nothing at all for as long as `body` takes.
    func whileStopped(_ body: () async throws -> Void) async rethrows {
        program.send(SIGSTOP)
        defer { program.send(SIGCONT) }
        try await body()
    }

    /// kill -9, and waits for the end.
    func kill() async throws {
        program.send(SIGKILL)
        try await program.waitForExit(within: .seconds(5))
    }

    /// Waits until its health check says so. A node that takes no connections any more isn't ready either.
    func waitUntil(ready: Bool, within limit: Duration = .seconds(20)) async throws {
        let connection = Connection(address)
        try await eventually("\(address) \(ready ? "ready" : "not ready")", within: limit) {
            do {
                return try await connection.get("/health/ready").status == (ready ? 200 : 503) ? true : nil
            } catch Connection.Failure.notConnected where !ready {
                return true
            }
        }
    }

    /// Waits until so many polls wait here.
    func waitForPolls(_ count: Int = 1) async throws {
        try await eventually("\(count) waiting polls") {
            try await metric("parley_polls_waiting") == Double(count) ? true : nil
        }
    }

    /// The sum of a metric's samples; nil if there is none of that name.
    func metric(_ name: String) async throws -> Double? {
        let lines = try await Connection(address).get("/metrics").text.split(separator: "\n")
        let samples = lines.filter { $0.hasPrefix(name + " ") || $0.hasPrefix(name + "{") }
        return samples.isEmpty
            ? nil : samples.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0, +)
    }
}
