// The flags of a command: those of the settings table, and its own.
import CommandLineFlags

extension Flags {
    /// - Parameters:
    ///   - own: the flags of the command that are no settings.
    ///   - name: the command as typed, without `parley`. Nil for the name of the command.
    init(
        _ arguments: some Sequence<String>, of command: Command, own: [String] = [], switches: Set<String> = [],
        acceptsOperands: Bool = false, name: String? = nil
    ) {
        let settings = Setting.all.filter { $0.commands.contains(command) }.map(\.flag)
        self.init(
            arguments, known: own + settings, switches: switches, acceptsOperands: acceptsOperands,
            of: name ?? command.rawValue)
    }
}
