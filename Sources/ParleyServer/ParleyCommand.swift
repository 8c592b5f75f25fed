// The executable: runs the command that the command line names.
import CommandLineFlags
import FoundationEssentials
import Glibc
import Linux
import Logging
import Service
import ServiceConfiguration

@main
struct ParleyCommand {
    static func main() async {
        await ProgramMain.run {
            try await run(
                Invocation.parse(
                    arguments: Array(CommandLine.arguments.dropFirst()),
                    environment: ProcessInfo.processInfo.environment, places: .ofThisProcess()))
        }
    }

    private static func run(_ invocation: Invocation) async throws {
        switch invocation {
        case .show(let text):
            print(text)
        case .initialise(let request):
            LogOutput.bootstrap(request.settings)
            try await InitCommand.run(request, logger: Logger(label: "parley"))
        case .health(let settings):
            try HealthCommand.run(settings)
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
        case .program(let name, let arguments):
            try InstalledProgram.execute(name, arguments)
        }
    }
}
