// `parley outbox install`: makes the outbox in a database of another program.
import CommandLineFlags
import Logging
import Postgres
import ServiceConfiguration
import Store

package enum OutboxCommand {
    /// Returns a sentence about what was done. Throws `StartError`.
    package static func run(_ request: OutboxRequest, logger: Logger) async throws -> String {
        let place = ConnectionString.redacted(request.url)
        do {
            switch try await OutboxInstallation.run(conninfo: request.url, logger: logger) {
            case .installed:
                return """
                    The outbox is installed. Grant the role parley_sender to the users who may send, and add the \
                    connection to PARLEY_OUTBOX_URLS of all nodes.
                    """
            case .roleAdded:
                return """
                    This is Parley's own database, which has the outbox already. The role parley_sender has its rights: \
                    grant it to the users who may send.
                    """
            }
        } catch PostgresError.server(let error) where error.sqlState == "42501" {
            throw StartError(
                "the user of \(place) may not make the outbox: it needs CREATEROLE and the right to create schemas (\(error.message))"
            )
        } catch let error as PostgresError {
            throw StartError("the database at \(place) can't be used: \(error)")
        }
    }
}
