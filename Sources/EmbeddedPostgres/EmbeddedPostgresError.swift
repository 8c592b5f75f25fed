// Why the embedded PostgreSQL can't be had: one clear sentence each, made to be shown to whoever started Parley.
// Errors of SQL or of connections are not here.

/// A refusal with the sentence to print. Nothing in it is secret: paths, user names and PostgreSQL's own last words.
package struct EmbeddedPostgresError: Error, CustomStringConvertible, Sendable {
    package enum Reason: Sendable, Equatable {
        /// PostgreSQL (or setpriv, which runs it as another user) isn't installed.
        case binariesMissing
        /// Another live Parley holds the data directory.
        case inUse
        /// The directory holds a cluster of a major version that isn't installed.
        case otherVersion
        /// The data directory can't be made or written.
        case notWritable
        /// The user that PostgreSQL runs as can't get into the data directory.
        case notReachable
        /// What lies where the cluster belongs is no cluster of ours; it is left alone.
        case notACluster
        /// initdb failed.
        case initialisationFailed
        /// The server ended, or wasn't ready in time.
        case startFailed
    }

    package let reason: Reason
    package let description: String

    init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }
}
