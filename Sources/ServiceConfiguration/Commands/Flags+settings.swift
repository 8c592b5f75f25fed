// The flags of a command as the settings table lists them.
import CommandLineFlags

extension Flags {
    init(_ arguments: some Sequence<String>, of settings: [Setting], for command: Command) {
        let known = Set(settings.filter { $0.commands.contains(command) }.map(\.flag))
        self.init(arguments, known: known, of: command.rawValue)
    }
}
