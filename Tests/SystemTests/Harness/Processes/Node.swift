// `parley serve` as a process: start, wait, signal, stop.

import Foundation
import TestSupport
import Testing

/// The executable under test.
enum Parley {
    /// PARLEY_EXECUTABLE if set; otherwise the executable next to the test bundle, where the build writes both.
    static let executable =
        ProcessInfo.processInfo.environment["PARLEY_EXECUTABLE"] ?? executable(named: "parley")

    /// An executable of this package next to the test bundle.
    static func executable(named name: String) -> String {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: own).deletingLastPathComponent().appending(path: name).path
    }

    struct Outcome: Sendable {
        let exit: TestProcess.Exit
        let output: String
        let errors: String
    }

    /// Runs the executable to its end, for failing starts and for commands that end by themselves.
    static func run(
        _ arguments: [String], settings: [String: String] = [:], in directory: String = "/",
        within limit: Duration = .seconds(60)
    ) async throws -> Outcome {
        let program = try await TestProcess.start([executable] + arguments, environment: settings, in: directory)
        let exit = try await program.waitForExit(within: limit)
        return Outcome(exit: exit, output: String(decoding: program.output, as: UTF8.self), errors: program.errors)
    }
}

/// A running node. It is killed when the last reference is released.
final class Node: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let program: TestProcess
    let address: Address
    /// The line printed when the node was ready.
    let readyLine: String
    let client: Client

    private init(_ program: TestProcess, _ address: Address, readyLine: String) {
        self.program = program
        self.address = address
        self.readyLine = readyLine
        client = Client(address: address)
    }

    deinit {
        program.send(SIGKILL)
    }

    /// Starts a node and returns once it reports ready. `database` is a libpq connection string; nil for an embedded
    /// PostgreSQL.
    /// - Throws: an error with the node's output, if the node ends or is not ready in time.
    static func start(
        database: String?, port: Int = 0, settings: [String: String] = [:], arguments: [String] = [],
        in directory: String = "/", executable: String = Parley.executable, within limit: Duration = .seconds(60)
    ) async throws -> Node {
        var environment = settings
        environment["PARLEY_HTTP_PORT"] = environment["PARLEY_HTTP_PORT"] ?? "\(port)"
        // Tests make a day's calls within seconds, so limits are off unless a test turns them on.
        environment["PARLEY_RATE_LIMITS"] = environment["PARLEY_RATE_LIMITS"] ?? "off"
        // An eighth of the usual time: registrations were a fifth of all that the tests compute.
        environment["PARLEY_PASSWORD_COST"] = environment["PARLEY_PASSWORD_COST"] ?? "12"
        if let database { environment["PARLEY_DATABASE_URL"] = database }
        let program = try await TestProcess.start(
            [executable, "serve"] + arguments, environment: environment, in: directory)
        do {
            let line = try await eventually("the node to be ready", within: limit) { () -> String? in
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

    /// Signals the node, and returns its exit and how long it took. Kills it after 30 s.
    @discardableResult
    func stop(
        by signal: Int32 = SIGTERM, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> (exit: TestProcess.Exit, took: Duration) {
        let clock = ContinuousClock()
        let start = clock.now
        program.send(signal)
        let exit = try await program.waitForExit()
        let took = start.duration(to: clock.now)
        // A node that runs out of time leaves out a part of its end, and logs that it took too long. No fault around it
        // explains that.
        #expect(!program.errors.contains("stopping took too long"), "\(program.errors)", sourceLocation: sourceLocation)
        return (exit, took)
    }

    /// Pauses the process while `body` runs.
    func whileStopped(_ body: () async throws -> Void) async rethrows {
        program.send(SIGSTOP)
        defer { program.send(SIGCONT) }
        try await body()
    }

    /// Kills the node with SIGKILL and waits for its end.
    func kill() async throws {
        program.send(SIGKILL)
        try await program.waitForExit()
    }

    /// Waits for the health check's answer. A node that refuses connections counts as not ready.
    func waitUntil(ready: Bool, within limit: Duration = .seconds(30)) async throws {
        let connection = Connection(address)
        try await eventually("\(address) \(ready ? "ready" : "not ready")", within: limit) {
            do {
                return try await connection.get("/health/ready").status == (ready ? 200 : 503)
            } catch Connection.Failure.notConnected where !ready {
                return true
            }
        }
    }

    /// Waits until this node has `count` waiting polls.
    func waitForPolls(_ count: Int = 1) async throws {
        try await eventually("\(count) waiting polls") {
            try await metric("parley_polls_waiting") == Double(count)
        }
    }

    /// Returns the value of a counter with these labels; 0 if there is none yet.
    func count(of name: String, _ labels: String) async throws -> Int {
        let sample = "\(name){\(labels)} "
        let lines = try await client.get("/metrics").text.split(separator: "\n")
        return lines.first { $0.hasPrefix(sample) }.flatMap { Int($0.dropFirst(sample.count)) } ?? 0
    }

    /// Returns the sum of a metric's samples; nil if the metric does not exist.
    func metric(_ name: String) async throws -> Double? {
        let lines = try await Connection(address).get("/metrics").text.split(separator: "\n")
        let starts = [name + " ", name + "{"]
        let samples = lines.filter { line in starts.contains { line.hasPrefix($0) } }
        return samples.isEmpty
            ? nil : samples.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0, +)
    }
}
