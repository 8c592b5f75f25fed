// The executable: runs the command that the command line names, and turns an error into one sentence and an exit
// status.
import CommandLineFlags
import Foundation
import Linux
import Logging
import Service
import ServiceConfiguration

@main
struct Parley {
    static func main() async {
        do {
            let invocation = try Invocation.parse(
                arguments: Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
            switch invocation {
            case .show(let text):
                print(text)
            case .serve(let settings):
                LogOutput.bootstrap(settings)
                try await Node.serve(settings)
            case .migrate(let settings):
                LogOutput.bootstrap(settings)
                try await Migration.run(settings)
            case .admin(let request):
                LogOutput.bootstrap(request.settings)
                try await Administration.run(request)
            case .attachments(let request):
                LogOutput.bootstrap(request.settings)
                try await MoveCommand.run(request, logger: Logger(label: "parley"))
            case .outbox(let request):
                print(try await OutboxCommand.run(request, logger: Logger(label: "parley")))
            case .export(let request):
                LogOutput.bootstrap(request.settings)
                guard try await ExportCommand.run(request, logger: Logger(label: "parley")) else { exit(1) }
            case .importArchive(let request):
                LogOutput.bootstrap(request.settings)
                if let report = try await ImportCommand.run(request, logger: Logger(label: "parley")) { print(report) }
            case .bench(let arguments):
                try await Measurement.run(arguments)
            case .chat(let arguments):
                try await Conversation.run(arguments)
            }
        } catch let error as ConfigurationErrors {
            fail("\(error)", status: 2)
        } catch {
            let text = "\(error)"
            fail("parley: \(text)\(text.hasSuffix(".") ? "" : ".")", status: 1)
        }
    }

    private static func fail(_ text: String, status: Int32) -> Never {
        StandardError.write(text.hasSuffix("\n") ? text : text + "\n")
        exit(status)
    }
}
