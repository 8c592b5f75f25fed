// tmux as the terminal of programs: a private server whose sessions have one program each.

import Foundation
import TestSupport
import Testing

/// A tmux server with a socket of its own. It ends with this object, and takes the programs with it.
final class Tmux: Sendable {
    static let executable = ["/usr/bin/tmux", "/usr/local/bin/tmux"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// For the programs' files, too.
    let directory: String
    private let temporary: TemporaryDirectory
    private let server: TestProcess

    private init(_ server: TestProcess, _ temporary: TemporaryDirectory) {
        self.server = server
        self.temporary = temporary
        directory = temporary.path
    }

    deinit {
        server.send(SIGKILL)
    }

    static func start() async throws -> Tmux {
        let temporary = try TemporaryDirectory()
        let line = try line(in: temporary.path)
        // In the foreground, so that it ends with the test's process.
        let server = try await TestProcess.start(line + ["-D"])
        try await eventually("tmux") {
            if let exit = server.exit { throw Failure(description: "tmux: \(exit) \(server.errors)") }
            return FileManager.default.fileExists(atPath: temporary.path + "/tmux")
        }
        return Tmux(server, temporary)
    }

    private static func line(in directory: String) throws -> [String] {
        [try #require(executable), "-u", "-S", directory + "/tmux", "-f", "/dev/null"]
    }

    /// Opens a terminal with a program in it. After the program's end the terminal shows its status.
    /// - Parameter line: a command of the shell.
    func open(_ name: String, _ line: String, columns: Int = 80, rows: Int = 24) async throws -> Pane {
        let command = "\(line); echo \"ended with status $?\"; sleep 1000"
        try await run("new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "-s", name, command)
        return Pane(name: name, tmux: self)
    }

    @discardableResult
    fileprivate func run(_ arguments: String...) async throws -> String {
        let client = try await TestProcess.start(Self.line(in: directory) + arguments)
        let exit = try await client.waitForExit()
        guard exit == .status(0) else { throw Failure(description: "tmux \(arguments): \(client.errors)") }
        return String(decoding: client.output, as: UTF8.self)
    }

    /// One terminal.
    struct Pane: Sendable {
        let name: String
        fileprivate let tmux: Tmux

        /// Presses keys by tmux's names: `Enter`, `Tab`, `F1`, `C-c`.
        func press(_ keys: String...) async throws {
            for key in keys { try await tmux.run("send-keys", "-t", name, key) }
        }

        func type(_ text: String) async throws { try await tmux.run("send-keys", "-t", name, "-l", text) }

        /// Pastes as a terminal does, with brackets if the program asked for them.
        func paste(_ text: String) async throws {
            try await tmux.run("set-buffer", "-b", "test", text)
            try await tmux.run("paste-buffer", "-p", "-b", "test", "-t", name)
        }

        func resize(columns: Int, rows: Int) async throws {
            try await tmux.run("resize-window", "-t", name, "-x", "\(columns)", "-y", "\(rows)")
        }

        /// The rows, without spaces at their ends.
        var screen: String { get async throws { try await tmux.run("capture-pane", "-p", "-t", name) } }

        /// The process id of the program, which the terminal's shell has started.
        var program: pid_t {
            get async throws {
                let shell = try await tmux.run("list-panes", "-t", name, "-F", "#{pane_pid}")
                let id = shell.trimmingCharacters(in: .whitespacesAndNewlines)
                let children = try String(contentsOfFile: "/proc/\(id)/task/\(id)/children", encoding: .utf8)
                return try #require(children.split(separator: " ").first.flatMap { pid_t($0) })
            }
        }

        /// Waits until the screen has each of these texts.
        @discardableResult
        func waits(for texts: String..., without unwanted: String? = nil, within limit: Duration = .seconds(30))
            async throws -> String
        {
            do {
                return try await eventually("\(name)'s screen", within: limit, every: .milliseconds(40)) {
                    let screen = try await screen
                    let isThere = texts.allSatisfy(screen.contains) && unwanted.map { !screen.contains($0) } ?? true
                    return isThere ? screen : nil
                }
            } catch {
                throw Failure(description: "\(name) lacks \(texts) (or has \(unwanted ?? "-")):\n\(try await screen)")
            }
        }
    }
}
