// One device of one person: a ClientDevice process on a store that outlives it.

import Foundation
import TestSupport

/// A device whose process a test kills and starts again. Calls wait while it is away.
actor DeviceProcess {
    private static let executable = Parley.executable(named: "ClientDevice")

    nonisolated let number: Int
    nonisolated let person: Person
    private let line: [String]
    private var running: Task<LineProcess, any Error>
    private(set) var killCount = 0
    /// The output of processes that ended by themselves.
    private(set) var crashes: Set<String> = []

    init(_ number: Int, of person: Person, through proxy: Address, store: String) {
        self.number = number
        self.person = person
        let line = [
            Self.executable, "--server", proxy.description, "--store", store, "--username", person.username,
            "--password", person.password, "--name", "Device \(number)",
        ]
        self.line = line
        running = Task { try await Self.start(line) }
    }

    private static func start(_ line: [String]) async throws -> LineProcess {
        try await LineProcess.start(line, within: .seconds(120)).process
    }

    /// Sends a command and returns the answer.
    /// - Throws: `LineProcess.Ended` if the process is killed first.
    func call(_ command: [String: JSON], within limit: Duration = .seconds(180)) async throws -> JSON {
        let process: LineProcess
        do {
            process = try await running.value
        } catch {
            crashes.insert("\(error)")
            throw error
        }
        do {
            return try await process.call(command, within: limit)
        } catch let error as TimedOut {
            let state = try? await process.call(["do": "state"])["state"].string
            throw TimedOut(description: "device \(number): \(error), \(state ?? "")")
        } catch let error as LineProcess.Ended {
            try await process.program.waitForExit()
            if process.program.exit != .signal(SIGKILL) {
                // A process that ended by itself: the run continues without the device, and reports this.
                crashes.insert("\(error) \(process.program.errors.suffix(4_000))")
            }
            throw error
        }
    }

    /// kill -9. The device starts again after `away`.
    func kill(away: @Sendable @escaping () async -> Void = {}) async {
        killCount += 1
        let (old, line) = (running, line)
        running = Task {
            // A device that has not started yet is killed as it starts.
            if let process = try? await old.value { try await process.kill() }
            await away()
            return try await Self.start(line)
        }
    }

    func end() async {
        if let process = try? await running.value { try? await process.kill() }
    }
}
