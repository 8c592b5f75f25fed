// Why the embedded PostgreSQL cannot run: one sentence each, printed for the operator. Errors of SQL or of connections
// are not here.

/// A refusal with the sentence to print. It contains no secrets: paths, user names and PostgreSQL's own messages.
package struct EmbeddedPostgresError: Error, CustomStringConvertible, Sendable {
    package enum Reason: Sendable, Equatable {
        /// PostgreSQL, or setpriv, which runs it as another user, is not installed.
        case binariesMissing
        /// Another running Parley has locked the data directory.
        case inUse
        /// The directory contains a cluster of a major version that is not installed.
        case otherVersion
        /// The data directory cannot be created or written.
        case notWritable
        /// The user that PostgreSQL runs as cannot enter the data directory.
        case notReachable
        /// The directory for the cluster contains something else, which is left alone.
        case notACluster
        /// initdb failed.
        case initialisationFailed
        /// The server ended, or was not ready in time.
        case startFailed
    }

    package let reason: Reason
    package let description: String

    init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }
}
