// The settings of the process: where it listens, what it connects to, what it logs.
internal import Domain

extension SettingGroup {
    static let configurationFile = SettingGroup(
        "Configuration file",
        [
            Setting(
                "config", \.configurationFile, .optional(.path), "FILE",
                "file of settings: one `key = value` per line, # starts a comment line; unset: parley.conf in the working "
                    + "folder, or /etc/parley/parley.conf, if there is one",
                commands: .withDatabase.union([.health]), isAllowedInFile: false)
        ])

    static let http = SettingGroup(
        "HTTP",
        [
            Setting(
                "http_host", \.httpHost, .host, "HOST", "address to listen on; 0.0.0.0 or :: for all interfaces",
                commands: .withAddress),
            Setting(
                "http_port", \.httpPort, .integer(0...65_535), "PORT", "port to listen on; 0 for any free port",
                commands: .withAddress),
            Setting(
                "public_url", \.publicURL, .optional(.publicURL), "URL",
                "address by which clients reach the service, for links to attachments and the addresses of incoming "
                    + "hooks; unset: scheme and Host of each request, which its sender chooses"),
            Setting(
                "trusted_proxies", \.trustedProxies, .addressRanges, "ADDRESSES",
                "addresses or ranges of reverse proxies whose X-Forwarded-For header is trusted, separated by commas; "
                    + "unset: all clients behind a proxy count as one client"),
            Setting(
                "cors_origins", \.corsOrigins, .origins, "ORIGINS",
                "web origins that may call the API (CORS), separated by commas; *: any origin; unset: only the "
                    + "service's own"),
            Setting(
                "web", \.webClientEnabled, .onOrOff, "on|off", "on: serve the web client at /; off: serve only the API"),
            Setting(
                "connections_max", \.connectionCountMax, .integer(1...1_000_000), "COUNT",
                "maximum open client connections; a new one closes the longest idle one, or gets 503 if none is idle"),
            Setting(
                "address_connections_percent", \.addressConnectionsPercent, .integer(1...100), "PERCENT",
                "percentage of all connections that one client address may hold while 7/8 of all are in use; trusted "
                    + "proxies are exempt; 100: no such limit"),
            Setting(
                "incoming_bytes_max", \.incomingByteCountMax, .integer(4_194_304...1_099_511_627_776), "BYTES",
                "maximum memory for the bodies of all requests in progress, in bytes (268435456 is 256 MiB); above it "
                    + "the largest incomplete requests get 503"),
            Setting(
                "drain_seconds", \.drainSeconds, .integer(0...8), "SECONDS",
                "time over which a stopping node spreads the answers to its waiting polls"),
        ])

    static let tls = SettingGroup(
        "TLS",
        [
            Setting(
                "tls_certificate_file", \.tlsCertificateFile, .optional(.path), "FILE",
                "PEM file with the certificate chain to serve HTTPS; reloaded when it changes; unset: plain HTTP",
                commands: [.serve, .health]),
            Setting(
                "tls_key_file", \.tlsKeyFile, .optional(.path), "FILE",
                "PEM file with the private key of the certificate, without a passphrase",
                commands: [.serve, .health]),
            Setting(
                "ca_file", \.caFile, .optional(.path), "FILE",
                "PEM file with certificates to trust for outgoing TLS, in addition to the system's",
                commands: .withObjectStore),
        ])

    static let database = SettingGroup(
        "Database",
        [
            Setting(
                "database_url", \.databaseURL, .optional(.connectionString), "URL",
                "PostgreSQL connection, as a libpq URL or keywords; unset: Parley runs its own PostgreSQL in the data "
                    + "directory",
                exposure: .connectionString, commands: .withDatabase),
            Setting(
                "listen_url", \.listenURL, .optional(.connectionString), "URL",
                "direct connection for LISTEN, if the database URL leads through a pooler; unset: the database URL",
                exposure: .connectionString),
            Setting(
                "read_url", \.readURL, .optional(.connectionString), "URL",
                "a streaming standby of the database, for the history of threads, search, member lists and exports of "
                    + "accounts; the primary answers while it lags or is down; unset: the primary answers all reads",
                exposure: .connectionString),
            Setting(
                "database_connections", \.databaseConnectionCountMax, .integer(1...100), "COUNT",
                "connections of a node to PostgreSQL, plus two for LISTEN, three for attachments and one for imports: half for reads, "
                    + "three tenths for the log, the rest for other writes; at least one each"),
            Setting(
                "read_timeout_ms", \.readTimeoutMs, .integer(100...15_000), "MS",
                "PostgreSQL cancels a read after this time and the client gets 503; writes have 15 s"),
            Setting(
                "prepared_statements", \.preparedStatements, .word, "auto|on|off",
                "auto: prepare statements unless a pooler is in between; on: for PgBouncer 1.21 or newer with "
                    + "max_prepared_statements above 0"),
            Setting(
                "data_dir", \.dataDirectory, .path, "DIRECTORY", "directory of Parley's own PostgreSQL",
                commands: .withDatabase),
            Setting(
                "migrate", \.migration, .word, "auto|off",
                "auto: upgrade the schema at start; off: refuse to start if the schema is older than this version"),
            Setting(
                "outbox_urls", \.outboxURLs, .connectionStrings, "URLS",
                "databases of other programs whose outbox the node handles, as libpq URLs or keywords, separated by "
                    + "commas; the same on all nodes; parley outbox install prepares them",
                exposure: .connectionString),
        ])

    static let operation = SettingGroup(
        "Admin API, logs and metrics",
        [
            Setting(
                "admin_token", \.adminTokens, .secrets, "TOKENS",
                "bearer token for /v1/admin, at least 16 characters, or several separated by commas, to replace one "
                    + "without a break; unset: only keys open the admin API", exposure: .secret),
            Setting(
                "metrics", \.metrics, .optional(.metrics), "open|admin|HOST:PORT",
                "who can read /metrics: open: everyone; admin: callers with the admin token; HOST:PORT: everyone who "
                    + "reaches this separate listener; unset: open on loopback, otherwise admin"),
            Setting(
                "slow_request_ms", \.slowRequestMs, .integer(0...600_000), "MS",
                "log requests that take longer than this, except waiting polls; 0: off. Requests that fail with 5xx "
                    + "are always logged, up to 20 per second"),
            Setting(
                "log_level", \.logLevel, .word, "LEVEL",
                "lowest level to log: trace, debug, info, notice, warning, error or critical",
                commands: .withDatabase),
            Setting(
                "log_format", \.logFormat, .word, "text|json",
                "format of the log on standard error; json: one object per line",
                commands: .withDatabase),
        ])
}
