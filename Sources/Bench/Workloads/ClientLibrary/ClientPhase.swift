// The processes of `parley bench client`: their input, what they report, and how they are started.
import Foundation
import Linux

/// What one process does.
package enum ClientPhase: String, Sendable {
    /// A new device signs in and loads the inbox.
    case firstSync = "first-sync"
    /// Opens every thread at its newest message and goes back to its first one.
    case fill
    /// Shows the inbox from the store, then the newest thread, and connects meanwhile.
    case coldStart = "cold-start"
    /// Connects and applies what happened while the client was offline.
    case catchUp = "catch-up"
    /// Sends messages one after another.
    case send
}

/// The account and what belongs to it, in a file: a command line would show the password to other users.
struct ClientPlan: Codable, Sendable {
    let url: String
    let username: String
    let password: String
    let threadCount: Int
    let messageCount: Int

    var json: String {
        get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
    }
}

struct ClientPhaseResult: Codable, Sendable {
    struct Inbox: Codable, Sendable, Equatable, CustomStringConvertible {
        var threads = 0
        /// The sum of the seqs of the threads' newest messages.
        var heads = 0

        var description: String { "\(threads) threads with \(heads) messages" }
    }

    /// Milliseconds since the start of the process, by the name of what was reached.
    var marksMs: [String: Double] = [:]
    /// One for each message of `send`.
    var sendsMs: [Double] = []
    /// At the end of the phase.
    var inbox = Inbox()
    /// Processor time of the process, by user and by system.
    var cpuMs = 0.0
    /// The most memory that the process had (VmHWM), in 10^6 bytes.
    var peakMB = 0.0
}

/// One process: a phase, the plan of the run, and the store of the client.
package struct ClientPhaseRun: Sendable, Equatable {
    /// The first argument of `parley bench` in such a process. The help does not list it.
    static let word = "client-phase"
    static let planName = "plan.json"
    /// How many messages `send` sends.
    static let sendCount = 100
    /// Seconds after which a phase that hangs ends.
    static let secondsMax: UInt32 = 900

    let phase: ClientPhase
    let directory: String
    let store: String
    /// Before the process was started.
    let began: MonotonicTime

    /// - Parameter arguments: the command line after `client-phase`.
    init?(_ arguments: [String]) {
        guard arguments.count == 4, let phase = ClientPhase(rawValue: arguments[0]), let began = Int64(arguments[3])
        else { return nil }
        self.phase = phase
        directory = arguments[1]
        store = arguments[2]
        self.began = MonotonicTime(nanoseconds: began)
    }

    /// Runs a phase in a new process and returns its result.
    static func start(
        _ phase: ClientPhase, in directory: ScratchDirectory, store: String
    ) async throws -> ClientPhaseResult {
        let executable = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let began = "\(MonotonicTime.now.nanoseconds)"
        let child = try await directory.start(
            executable, [word, phase.rawValue, directory.path, store, began], output: phase.rawValue)
        let exit: ChildProcess.Exit
        do {
            exit = try await child.waitForExit()
        } catch {
            await child.end()
            throw error
        }
        let output = directory.read(phase.rawValue)
        guard exit == .status(0) else { throw BenchFailure("the phase \(phase.rawValue) \(exit): \(output)") }
        return try JSONDecoder().decode(ClientPhaseResult.self, from: Data(output.utf8))
    }

    /// Runs the phase in this process and prints its result as JSON.
    package func run() async throws {
        alarm(Self.secondsMax)
        let folder = URL(fileURLWithPath: directory)
        let plan = try JSONDecoder().decode(
            ClientPlan.self, from: Data(contentsOf: folder.appendingPathComponent(Self.planName)))
        let session = try ClientSession(plan, store: folder.appendingPathComponent(store), began: began)
        var result = try await session.run(phase)
        result.cpuMs = Processes.ownCPUSeconds * 1000
        result.peakMB = try Processes.ownPeakMB()
        print(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
    }
}
