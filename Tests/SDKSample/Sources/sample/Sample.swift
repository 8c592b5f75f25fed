// The sample's start: arguments, the client, signing in.
import Foundation
import Parley

@main
struct Sample {
    static let usage = """
        usage: sample SERVER chat USERNAME PASSWORD PEER   shows the inbox, then the conversation with PEER
               sample SERVER echo USERNAME PASSWORD        a bot that repeats each message to its sender
        The account is created if it does not exist. The store is the folder parley-store in the current directory.
        """

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 4, let server = URL(string: arguments[0]) else {
            print(usage)
            exit(2)
        }
        do {
            // The store holds what was received and what is still to be sent. Keep it from one start to the next.
            let folder = URL(filePath: FileManager.default.currentDirectoryPath).appending(path: "parley-store")
            let parley = try ParleyClient(.init(server: server, store: .file(directory: folder)))
            let account = try await signIn(parley, username: arguments[2], password: arguments[3])
            print("Signed in as \(account.user.username ?? account.user.name).")
            switch arguments[1] {
            case "chat" where arguments.count == 5: try await chat(parley, with: arguments[4])
            case "echo": try await echo(parley, as: account.user.id)
            default: print(usage)
            }
            await parley.close()
        } catch {
            print("sample: \(error)")
            exit(1)
        }
    }

    /// Signs in, or creates the account. After the first time the store knows who is signed in.
    static func signIn(_ parley: ParleyClient, username: String, password: String) async throws -> Account {
        if let account = try await parley.account.current { return account }
        do {
            return try await parley.signIn(.password(username: username, password: password))
        } catch let error as ParleyError where error.code == "wrong_credentials" {
            return try await parley.register(username: username, password: password, name: username)
        }
    }
}

/// The lines that a person types, until the end of the input.
func typedLines() -> AsyncStream<String> {
    AsyncStream { lines in
        // Reading blocks, so it has a thread of its own.
        Thread.detachNewThread {
            while let line = readLine() { lines.yield(line) }
            lines.finish()
        }
    }
}
