// All settings as typed values with their defaults. SettingsTable.swift has names and help, Settings+load.swift loads
// them.
package import Domain
package import Logging

/// The configuration of one process: loaded once at start, then passed on by value.
package struct Settings: Sendable, Equatable {
    /// Whether a node upgrades the schema when it starts.
    package enum Migration: String, CaseIterable, Sendable {
        case auto
        /// Refuse to start if the schema is older than this version.
        case off
    }

    /// Whether PostgreSQL keeps prepared statements.
    package enum PreparedStatements: String, CaseIterable, Sendable {
        /// Prepare statements unless a pooler is in between.
        case auto
        case on
        case off
    }

    /// Access to `/metrics`.
    package enum Metrics: Sendable, Equatable {
        /// Everyone who reaches the service may read it.
        case open
        /// The admin token is required. Without a configured token, `/metrics` does not exist.
        case admin
        /// Everyone who reaches this address may read it. The address serves nothing else.
        case address(host: String, port: Int)
    }

    /// What happens to an attachment that the virus scanner cannot scan.
    package enum ScanFail: String, CaseIterable, Sendable {
        /// The attachment stays in state `checking` until the scanner answers.
        case closed
        /// The attachment becomes ready.
        case open
    }

    /// What happens to a message while the policy does not answer.
    package enum PolicyFail: String, CaseIterable, Sendable {
        /// The message is accepted.
        case open
        /// The message is refused with 503.
        case closed
    }

    /// How clients get attachments that are in the object store.
    package enum ObjectServing: String, CaseIterable, Sendable {
        /// Through the node: the bucket needs no public name.
        case proxy
        /// A redirect (307) leads to a signed URL of the store.
        case redirect
    }

    package enum LogFormat: String, CaseIterable, Sendable {
        case text
        /// One JSON object per line.
        case json
    }

    /// The path of the configuration file.
    package var configurationFile: String?

    /// The name or address to listen on.
    package var httpHost = "127.0.0.1"
    /// 0 means any free port.
    package var httpPort = 8080
    /// The origin by which clients reach the service; nil: that of each request.
    package var publicURL: String?
    /// PEM files; both nil for plain HTTP.
    package var tlsCertificateFile: String?
    package var tlsKeyFile: String?
    /// Web origins that may call the API; `*` alone for any.
    package var corsOrigins: [String] = []
    /// Whether the node serves the web client.
    package var webClientEnabled = true
    /// Maximum open client connections of a node.
    package var connectionCountMax = 20_000
    /// Maximum share of one client address while the node is nearly full, in percent; 100 means no limit.
    package var addressConnectionsPercent = 25
    /// Maximum bytes of the bodies of all requests in progress.
    package var incomingByteCountMax = 256 * 1024 * 1024
    /// Time over which a stopping node spreads the answers to its waiting polls.
    package var drainSeconds = 3

    /// A connection string; nil for the embedded PostgreSQL. May contain a password: print `effectiveDescription`.
    package var databaseURL: String?
    /// The connection for `LISTEN` if `databaseURL` leads through a pooler; nil means `databaseURL`.
    package var listenURL: String?
    /// A streaming standby of that database for reads; nil: none.
    package var readURL: String?
    /// Connections of all pools together.
    package var databaseConnectionCountMax = 10
    /// Timeout of statements that only read.
    package var readTimeoutMs = 3_000
    package var preparedStatements = PreparedStatements.auto
    /// Directory of the embedded PostgreSQL, relative to the working directory.
    package var dataDirectory = ".parley"
    package var migration = Migration.auto
    /// Connection strings of databases whose outbox the node handles. May contain passwords.
    package var outboxURLs: [String] = []

    /// How long events stay in the log. Messages are kept in the archive, not in the log.
    package var logDays = 14
    /// How long content that is kept until delivery waits for a device that is not used.
    package var deviceSilentDays = 30

    /// Whether members may read the earlier versions of messages.
    package var showsEdits = true

    /// The name of a PostgreSQL text search configuration.
    package var searchConfiguration = "simple"

    /// The relay for e-mails with codes; nil disables sign-in by mail. May contain a password.
    package var mailServer: MailServer?
    package var mailSender: MailSender?
    /// Certificates trusted for outgoing TLS in addition to the system's.
    package var caFile: String?
    /// The service name, shown by clients and in e-mails.
    package var appName = "Parley"
    /// Credentials for Apple's push service; nil disables it.
    package var apnsKeyFile: String?
    package var apnsKeyID: String?
    package var apnsTeamID: String?
    /// The app's bundle id, for devices that do not send one.
    package var apnsTopic: String?
    /// Replaces Apple's hosts.
    package var apnsURL: String?
    package var fcmAccountFile: String?
    /// Replaces Google's host.
    package var fcmURL: String?
    /// The contact address sent to Web Push services: `mailto:` or `https:`.
    package var webPushSubject: String?
    /// Whether push endpoints may be in private networks.
    package var pushAllowsPrivate = false
    /// How long a device still counts as polling after the end of its last poll.
    package var pushWaitMs = 2_000
    /// An alert that could not be sent within this time is dropped.
    package var pushLifeHours = 24
    /// Connections of a node to each push service.
    package var pushConnectionCountMax = 4
    /// Seconds between the tries of a webhook's event.
    package var webhookRetries = WebhookLimits.retrySeconds
    /// The service that is asked before a message is accepted; nil: none. May contain a secret.
    package var policyURL: String?
    package var policyFail = PolicyFail.open
    package var policyTimeoutMs = PolicyLimits.timeoutMs
    /// Nil: depends on the address that the service listens on; see ``registrationInUse``.
    package var registration: RegistrationRule?
    /// A session ends after this time without use.
    package var sessionIdleDays = 90

    /// The bucket for attachments in an S3-compatible store; nil keeps them in PostgreSQL. The four belong together.
    package var s3Endpoint: String?
    package var s3Bucket: String?
    package var s3AccessKey: String?
    /// The key is never printed.
    package var s3SecretKey: String?
    package var s3Region = "us-east-1"
    /// Whether the bucket's name is in the URL's path, not in its host name.
    package var s3UsesPathStyle = true
    package var s3Serving = ObjectServing.proxy

    /// The file with the keys of the host app's tokens, relative to the working directory; nil disables such tokens.
    package var jwtKeysFile: String?
    /// The required `iss` and `aud` claims of such tokens; nil accepts any.
    package var jwtIssuer: String?
    package var jwtAudience: String?

    /// The virus scanner of attachments; nil: attachments are not scanned.
    package var scanner: ScannerAddress?
    package var scanFail = ScanFail.closed
    /// Whether resumable uploads get 104 interim answers.
    package var sendsUploadInterims = false

    /// Maximum reads of one account in progress on a node.
    package var accountReadCountMax = 4
    /// Maximum waiting polls and streams on a node: of one session, and of all sessions of an account.
    package var sessionPollCountMax = 8
    package var accountPollCountMax = 64

    package var rateLimitsEnabled = true
    package var rateQuotas = RateQuotas()
    /// Addresses and ranges of proxies whose `X-Forwarded-For` header is trusted.
    package var trustedProxies: [String] = []
    package var limits = Limits()
    /// 0 means the number of cores less one.
    package var passwordWorkerCount = 0
    package var passwordQueueMax = 256
    /// The binary logarithm of scrypt's N.
    package var passwordCost = 15

    /// Requests that take longer are logged; 0 disables this.
    package var slowRequestMs = 1000
    package var logLevel = Logger.Level.info
    package var logFormat = LogFormat.text

    /// The bearer tokens that open the whole admin API. Without any only keys open it. Never printed.
    package var adminTokens: [String] = []
    /// Nil: depends on the address that the service listens on; see ``metricsInUse``.
    package var metrics: Metrics?

    /// The names of unknown `PARLEY_…` variables, sorted, for a warning. Values are not kept: they may be secrets.
    package var unknownVariables: [String] = []

    package init() {}

    /// The access in effect. The default is open on loopback, and by admin token on any other address.
    package var metricsInUse: Metrics { metrics ?? (listensOnLoopbackOnly ? .open : .admin) }

    /// The rule in effect. The default is open on loopback, and closed on any other address.
    package var registrationInUse: RegistrationRule { registration ?? (listensOnLoopbackOnly ? .open : .closed) }

    private var listensOnLoopbackOnly: Bool {
        let parts = httpHost.split(separator: ".", omittingEmptySubsequences: false)
        let isLoopbackV4 = parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
        return isLoopbackV4 || httpHost == "localhost" || httpHost == "::1"
    }
}
