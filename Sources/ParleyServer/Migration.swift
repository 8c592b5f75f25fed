// `parley migrate`: brings the schema up to date and prints what was applied.
import Logging
import Service
import ServiceConfiguration

enum Migration {
    static func run(_ settings: Settings) async throws {
        let logger = Logger(label: "parley")
        let applied = try await Database.open(settings, logger: logger) { database in
            try await database.migrate(logger: logger)
        }
        print(applied.isEmpty ? "The schema is up to date." : "Applied: \(applied.joined(separator: ", ")).")
    }
}
