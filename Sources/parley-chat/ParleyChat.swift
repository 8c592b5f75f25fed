// `parley chat`: the terminal client, as an executable of its own.
import CommandLineFlags
import Foundation
import TerminalClient

@main
struct ParleyChat {
    static func main() async {
        await ProgramMain.run {
            let environment = ProcessInfo.processInfo.environment
            switch try ChatInvocation.parse(Array(CommandLine.arguments.dropFirst()), environment: environment) {
            case .show(let text): print(text)
            case .run(let settings): try await TerminalClient.run(settings, environment: environment)
            }
        }
    }
}
