// `parley admin`: runs one action on the database and prints its answer as JSON.
import Logging
import Service
import ServiceConfiguration

enum Administration {
    static func run(_ request: AdminRequest) async throws {
        if let answer = try await AdminCommand.run(request, logger: Logger(label: "parley")) { print(answer) }
    }
}
