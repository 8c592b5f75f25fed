// Everything that can be configured, as typed values with their defaults. Names and help are in SettingsTable.swift,
// reading in Settings+load.swift.
package import Domain
package import Logging

/// The configuration of one process: read once at start, then passed on by value.
package struct Settings: Sendable, Equatable {
    /// Whether the service brings the schema up to date by itself when it starts.
    package enum Migration: String, CaseIterable, Sendable {
        case auto
        /// Refuse to start on a schema that is too old.
        case off
    }

    /// Whether statements are prepared on the database's side.
    package enum PreparedStatements: String, CaseIterable, Sendable {
        /// Unless a pooler stands between.
        case auto
        case on
        case off
    }

    /// Who may read `/metrics`.
    package enum Metrics: Sendable, Equatable {
        /// Whoever reaches the service.
        case open
        /// The admin token is needed; without one configured, there is no `/metrics`.
        case admin
        /// Whoever reaches this address, which serves nothing else.
        case address(host: String, port: Int)
    }

    package enum LogFormat: String, CaseIterable, Sendable {
        case text
        /// One JSON object a line.
        case json
    }

    /// The file that some of the values came from.
    package var configurationFile: String?

    /// A name or an address to bind.
    package var httpHost = "127.0.0.1"
    /// 0 takes any free port.
    package var httpPort = 8080
    /// PEM files; both nil without TLS of its own.
    package var tlsCertificateFile: String?
    package var tlsKeyFile: String?
    /// Of web pages that may call from elsewhere; `*` alone for any.
    package var corsOrigins: [String] = []
    /// Open client connections on this node.
    package var connectionCountMax = 20_000
    /// Of them, in per cent, for one client address once the node is nearly full; 100: all.
    package var addressConnectionsPercent = 25
    /// Bytes of the bodies of all requests under way.
    package var incomingByteCountMax = 256 * 1024 * 1024
    /// How long a stopping node takes to answer its waiting polls.
    package var drainSeconds = 3

    /// A libpq connection string; nil for the embedded PostgreSQL. May hold a password: print `effectiveDescription`.
    package var databaseURL: String?
    /// For `LISTEN`, where `databaseURL` leads through a pooler; nil for the same.
    package var listenURL: String?
    /// Of the pools together.
    package var databaseConnectionCountMax = 10
    /// After which PostgreSQL ends a statement that only reads.
    package var readTimeoutMs = 3_000
    package var preparedStatements = PreparedStatements.auto
    /// Of the embedded PostgreSQL; relative to the working directory.
    package var dataDirectory = ".parley"
    package var migration = Migration.auto

    /// How long events stay in the log; the archive of messages isn't the log.
    package var logDays = 14
    /// How long a device that isn't used is waited for before content goes that it hasn't got.
    package var deviceSilentDays = 30

    /// A text search configuration of the database's.
    package var searchConfiguration = "simple"

    /// Takes mails with codes; nil where none are sent. May hold a password.
    package var mailServer: MailServer?
    package var mailSender: MailSender?
    /// Certificates trusted for outgoing TLS besides the system's.
    package var caFile: String?
    /// What people know the service by.
    package var appName = "Parley"
    /// What alerts are sent with; nil: none by that service.
    package var apnsKeyFile: String?
    package var apnsKeyID: String?
    package var apnsTeamID: String?
    /// Of devices that name none: the app's bundle id.
    package var apnsTopic: String?
    /// Instead of Apple's hosts.
    package var apnsURL: String?
    package var fcmAccountFile: String?
    /// Instead of Google's host.
    package var fcmURL: String?
    /// Whom push services may turn to: `mailto:` or `https:`.
    package var webPushSubject: String?
    /// Whether user-given addresses may lead into private networks.
    package var pushAllowsPrivate = false
    /// How long after its last poll a device counts as polling still.
    package var pushWaitMs = 2_000
    /// After which an alert is worth nothing.
    package var pushLifeHours = 24
    /// To each of the services, from each node.
    package var pushConnectionCountMax = 4
    /// How long a session goes on without being used.
    package var sessionIdleDays = 90

    /// The file with the keys of the host app's tokens; nil: none are taken. Relative to the working directory.
    package var jwtKeysFile: String?
    /// What such tokens must have as their `iss` and among their `aud`; nil for no matter.
    package var jwtIssuer: String?
    package var jwtAudience: String?

    /// Reads of one account under way on a node.
    package var accountReadCountMax = 4
    /// Polls and streams that wait on a node: of one session, and of all sessions of an account.
    package var sessionPollCountMax = 8
    package var accountPollCountMax = 64

    package var rateLimitsEnabled = true
    package var rateQuotas = RateQuotas()
    /// Addresses and ranges of proxies whose `X-Forwarded-For` is believed.
    package var trustedProxies: [String] = []
    package var limits = Limits()
    /// 0: as many as the machine has cores, less one.
    package var passwordWorkerCount = 0
    package var passwordQueueMax = 256

    /// From which time to the answer on a request is logged; 0: never for that.
    package var slowRequestMs = 1000
    package var logLevel = Logger.Level.info
    package var logFormat = LogFormat.text

    /// What the admin API is called with; nil: there is none. Never printed.
    package var adminToken: String?
    /// Nil: by the address that the service listens on; see ``metricsInUse``.
    package var metrics: Metrics?

    /// Names of `PARLEY_…` variables that this version does not know, sorted: to be warned about. Never their values.
    package var unknownVariables: [String] = []

    package init() {}

    /// Open to this host's own programs; on any other address, by the admin's token.
    package var metricsInUse: Metrics { metrics ?? (listensOnLoopbackOnly ? .open : .admin) }

    private var listensOnLoopbackOnly: Bool {
        let parts = httpHost.split(separator: ".", omittingEmptySubsequences: false)
        let isLoopbackV4 = parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
        return isLoopbackV4 || httpHost == "localhost" || httpHost == "::1"
    }
}
