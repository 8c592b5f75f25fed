// One device of one person as a process: a ParleyClient that a test drives by lines, and may kill at any moment.
//
//     ClientDevice --server URL --store DIRECTORY --username NAME --password PASSWORD --name DEVICE
//
// Prints {"user": id} once it is signed in. Then it reads commands from standard input, one JSON object a line, and prints
// an answer with the same `id` for each. Commands run at the same time, except sends: these are accepted in their order.
// A command names threads and messages by any number: the device picks from what it shows. A process that starts again on
// the same directory continues where the last one ended.

import Foundation
import Parley

@main
struct ClientDevice {
    static func main() async throws {
        let settings = try Settings(CommandLine.arguments)
        let requests = OpenRequests()
        let parley = try ParleyClient(
            .init(
                server: settings.server, store: .file(directory: settings.store), deviceName: settings.name,
                transport: requests))
        let account = try await signIn(parley, settings)
        let device = Device(parley, requests: requests, store: settings.store, user: account.id)
        print(["user": .string(account.id.rawValue)])
        await withDiscardingTaskGroup { group in
            group.addTask { await device.followInbox() }
            group.addTask { await device.followTimelines() }
            let (sends, sender) = AsyncStream.makeStream(of: JSONValue.self)
            group.addTask { for await command in sends { print(await device.answer(command)) } }
            for await line in lines() {
                guard let command = try? JSONDecoder().decode(JSONValue.self, from: Data(line.utf8)) else { continue }
                switch command["do"]?.string {
                case "exit": exit(0)
                // One after the other: the order in which the person writes.
                case "send": sender.yield(command)
                default: group.addTask { print(await device.answer(command)) }
                }
            }
            // The test has ended.
            exit(0)
        }
    }

    /// Signs in, unless an earlier process on this store has. Repeats the call while the network fails.
    private static func signIn(_ parley: ParleyClient, _ settings: Settings) async throws -> Account {
        for _ in 1..<100 {
            if let account = try await parley.account.current { return account }
            do {
                return try await parley.signIn(.password(username: settings.username, password: settings.password))
            } catch let error as ParleyError where error.isTemporary {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        throw ParleyError.noAnswer("no sign-in in 100 tries")
    }

    /// Prints one line. Lines of commands that end at the same time do not mix.
    private static func print(_ answer: JSONValue) {
        var line = (try? JSONEncoder().encode(answer)) ?? Data("{}".utf8)
        line.append(UInt8(ascii: "\n"))
        output.withLock { FileHandle.standardOutput.write(line) }
    }

    private static let output = NSLock()

    /// The lines of standard input. A thread of its own waits for them.
    private static func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }
}

private struct Settings {
    let server: URL
    let store: URL
    let username: String
    let password: String
    let name: String

    struct Missing: Error { let flag: String }

    init(_ arguments: [String]) throws {
        func value(_ flag: String) throws -> String {
            guard let place = arguments.firstIndex(of: flag), place + 1 < arguments.count else {
                throw Missing(flag: flag)
            }
            return arguments[place + 1]
        }
        guard let server = URL(string: try value("--server")) else { throw Missing(flag: "--server") }
        self.server = server
        store = URL(filePath: try value("--store"))
        username = try value("--username")
        password = try value("--password")
        name = try value("--name")
    }
}
