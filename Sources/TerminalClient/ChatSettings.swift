// The command line of `parley chat`.
import CommandLineFlags
import Foundation
import Parley

/// The task that the command line gives `parley chat`.
package enum ChatInvocation: Sendable, Equatable {
    /// Print this text to standard output and exit with status 0.
    case show(String)
    case run(ChatSettings)

    /// - Parameters:
    ///   - arguments: the command line after `parley chat`.
    ///   - environment: for the place of the store.
    package static func parse(
        _ arguments: [String], environment: [String: String]
    ) throws(ConfigurationErrors) -> ChatInvocation {
        if arguments.contains(where: { ["--help", "-h"].contains($0) }) { return .show(help) }
        return .run(try ChatSettings.load(arguments, environment: environment))
    }

    private static let help = """
        Chat in the terminal.

        Usage: parley chat [--server URL] [--username NAME] [--store DIRECTORY] [--device NAME]

          --server URL
              address of the server [\(ChatSettings.defaultServer)]
          --username NAME
              account to sign in to; each account has a store of its own
          --store DIRECTORY
              where messages and the session are kept, readable only by its owner
              [$XDG_DATA_HOME/parley/chat/SERVER/NAME]
          --device NAME
              name of this device in the list of devices [parley chat on HOST]

        The password is asked on the screen. F1 shows all keys. With NO_COLOR set, no colours are used.
        """
}

/// What the command line says.
package struct ChatSettings: Sendable, Equatable {
    package static let defaultServer = "http://127.0.0.1:8080"

    package var server: URL
    package var username: String?
    package var store: URL
    package var deviceName: String

    /// Reads the flags. Throws all mistakes together.
    static func load(
        _ arguments: [String], environment: [String: String]
    ) throws(ConfigurationErrors) -> ChatSettings {
        let flags = Flags(arguments, known: ["--server", "--username", "--store", "--device"], of: "chat")
        var mistakes = flags.mistakes
        let address = flags.values["--server"] ?? defaultServer
        let server = Self.server(address)
        if server == nil {
            mistakes.append(
                "--server is \(address.quoted). It must be an address of the form https://host or http://host:port.")
        }
        let directory = flags.values["--store"] ?? defaultStore(environment)
        if directory == nil {
            mistakes.append("Neither XDG_DATA_HOME nor HOME is set. Name the store's directory with --store.")
        }
        guard mistakes.isEmpty, let server, let directory else { throw ConfigurationErrors(mistakes: mistakes) }
        let username = flags.values["--username"]
        var store = URL(filePath: directory, directoryHint: .isDirectory)
        if flags.values["--store"] == nil {
            store.append(path: fileName(serverName(server)))
            store.append(path: fileName(username ?? "default"))
        }
        return ChatSettings(
            server: server, username: username, store: store,
            deviceName: flags.values["--device"] ?? "parley chat on \(ProcessInfo.processInfo.hostName)")
    }

    private static func server(_ text: String) -> URL? {
        guard let url = URL(string: text), let scheme = url.scheme, ["http", "https"].contains(scheme),
            let host = url.host(), !host.isEmpty, url.user == nil, url.query == nil, url.fragment == nil,
            ["", "/"].contains(url.path)
        else { return nil }
        return url
    }

    private static func defaultStore(_ environment: [String: String]) -> String? {
        // The specification says that a relative path is to be ignored.
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/parley/chat" }
        return environment["HOME"].map { $0 + "/.local/share/parley/chat" }
    }

    private static func serverName(_ server: URL) -> String {
        (server.host() ?? "") + (server.port.map { "_\($0)" } ?? "")
    }

    /// A name for a directory: letters, digits, "-", "_" and "."; every other byte as its number.
    private static func fileName(_ text: String) -> String {
        let name = text.utf8.map { byte -> String in
            let character = Character(Unicode.Scalar(byte))
            let isPlain = character.isASCII && (character.isLetter || character.isNumber || "-_.".contains(character))
            return isPlain ? String(character) : "%" + String(byte, radix: 16)
        }.joined()
        return name.hasPrefix(".") ? "_" + name : name
    }
}
