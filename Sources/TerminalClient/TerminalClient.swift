// `parley chat`: a client for terminals, on the client library.
import CommandLineFlags
import Foundation
import Parley

package enum TerminalClient {
    /// Runs `parley chat` until the user quits. Throws before the terminal is changed if it cannot begin.
    package static func run(_ settings: ChatSettings, environment: [String: String]) async throws {
        try makeStore(settings.store)
        let client = try ParleyClient(
            .init(server: settings.server, store: .file(directory: settings.store), deviceName: settings.deviceName))
        let terminal: Terminal
        do {
            terminal = try Terminal.open()
        } catch {
            await client.close()
            throw error
        }
        let isMonochrome = !(environment["NO_COLOR"] ?? "").isEmpty
        let chat = Chat(client: client, settings: settings, terminal: terminal, isMonochrome: isMonochrome)
        await chat.run()
        terminal.close()
    }

    /// Creates the directory, and its parents, for its owner only.
    private static func makeStore(_ directory: URL) throws {
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory.path)
    }
}
