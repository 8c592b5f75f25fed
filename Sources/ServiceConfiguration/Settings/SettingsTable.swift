// The one list of what can be configured. Flags, variables, the file, `--help` and the README's table all come from it.
internal import Domain

extension Setting {
    /// In the order in which people read them.
    package static let all: [Setting] = parts + quotas

    private static let parts: [Setting] = [
        Setting(
            "config", \.configurationFile, .optional(.path), "FILE",
            "file of settings, one `key = value` a line, `#` for comments",
            commands: [.serve, .migrate, .admin], isAllowedInFile: false),
        Setting("http_host", \.httpHost, .host, "HOST", "address to listen on; 0.0.0.0 or :: for all"),
        Setting("http_port", \.httpPort, .integer(0...65_535), "PORT", "port to listen on; 0 for any free one"),
        Setting(
            "database_url", \.databaseURL, .optional(.connectionString), "URL",
            "PostgreSQL, as a libpq URL or key words; unset: Parley starts and keeps its own under the data directory",
            exposure: .connectionString, commands: [.serve, .migrate, .admin]),
        Setting(
            "listen_url", \.listenURL, .optional(.connectionString), "URL",
            "direct connection for LISTEN, where the database URL leads through a pooler; unset: the same",
            exposure: .connectionString),
        Setting(
            "database_connections", \.databaseConnectionCountMax, .integer(1...100), "COUNT",
            "connections of a node to PostgreSQL, besides two for LISTEN: half for reads, three tenths for the log, the "
                + "rest for other writes, at least one each (docs/architecture.md)"),
        Setting(
            "read_timeout_ms", \.readTimeoutMs, .integer(100...15_000), "MS",
            "PostgreSQL ends a read that takes longer, and the call is answered 503; writes have 15 s"),
        Setting(
            "prepared_statements", \.preparedStatements, .word, "auto|on|off",
            "auto: unless a pooler stands between; on: with PgBouncer 1.21 or newer, which can keep them"),
        Setting(
            "data_dir", \.dataDirectory, .path, "DIRECTORY", "home of Parley's own PostgreSQL",
            commands: [.serve, .migrate, .admin]),
        Setting(
            "migrate", \.migration, .word, "auto|off",
            "auto: bring the schema up to date at start; off: refuse to start on an old one"),
        Setting(
            "admin_token", \.adminToken, .optional(.secret), "TOKEN",
            "what /v1/admin is called with, at least 16 characters; unset: no admin API", exposure: .secret),
        Setting(
            "metrics", \.metrics, .optional(.metrics), "open|admin|HOST:PORT",
            "access to /metrics: open: everybody; admin: callers with the admin token (404 without one set); HOST:PORT: "
                + "a listener of its own that serves nothing else; unset: open where the service listens on loopback, "
                + "else admin"),
        Setting(
            "smtp_url", \.mailServer, .optional(.mailServer), "URL",
            "where codes are mailed through: smtp://user:password@host:587 (STARTTLS is required, unless ?starttls=off "
                + "stands behind it or the host is this one) or smtps://…; unset: nobody signs in by mail",
            exposure: .connectionString),
        Setting(
            "mail_from", \.mailSender, .optional(.mailSender), "ADDRESS",
            "who the mails are from: an address, or Name <address>; needed with the SMTP URL"),
        Setting(
            "ca_file", \.caFile, .optional(.path), "FILE",
            "certificates (PEM) trusted for outgoing TLS besides the system's"),
        Setting(
            "app_name", \.appName, .line(characterCountMax: 64), "NAME", "what people know the service by, in mails"),
        Setting(
            "apns_key_file", \.apnsKeyFile, .optional(.path), "FILE",
            "key (.p8) by which alerts go to Apple's devices; unset: none do"),
        Setting("apns_key_id", \.apnsKeyID, .optional(.appleID), "ID", "the key's id, ten characters"),
        Setting("apns_team_id", \.apnsTeamID, .optional(.appleID), "ID", "the team's id, ten characters"),
        Setting(
            "apns_topic", \.apnsTopic, .optional(.text), "TOPIC",
            "the app's bundle id, for devices that don't name one"),
        Setting(
            "apns_url", \.apnsURL, .optional(.webURL), "URL", "called instead of Apple's hosts, for both environments"),
        Setting(
            "fcm_account_file", \.fcmAccountFile, .optional(.path), "FILE",
            "service account (JSON) by which alerts go through Firebase Cloud Messaging; unset: none do"),
        Setting(
            "fcm_url", \.fcmURL, .optional(.webURL), "URL",
            "called instead of Google's host; where tokens are had is in the account's file"),
        Setting(
            "webpush_subject", \.webPushSubject, .optional(.contact), "URL",
            "whom the push services of browsers and UnifiedPush may turn to, mailto:… or https://…; unset: no Web Push"),
        Setting(
            "push_allow_private", \.pushAllowsPrivate, .trueOrFalse, "true|false",
            "true: user-given push addresses may lead into private networks (for tests only)"),
        Setting(
            "push_wait_ms", \.pushWaitMs, .integer(0...60_000), "MS",
            "how long after its last poll a device gets no alerts yet, since it may poll again"),
        Setting(
            "push_life_hours", \.pushLifeHours, .integer(1...672), "HOURS",
            "an alert that couldn't be sent for so long is given up"),
        Setting(
            "push_connections", \.pushConnectionCountMax, .integer(1...100), "COUNT",
            "connections of a node to each push service"),
        Setting(
            "session_idle_days", \.sessionIdleDays, .integer(1...3_650), "DAYS",
            "a device that isn't used for so long is signed out"),
        Setting(
            "jwt_keys", \.jwtKeysFile, .optional(.path), "FILE",
            "JSON Web Key Set by which tokens that the host app's server signed are checked; read again when it changes; "
                + "unset: none are taken"),
        Setting(
            "jwt_issuer", \.jwtIssuer, .optional(.text), "TEXT", "what such a token must have as `iss`; unset: anything"
        ),
        Setting(
            "jwt_audience", \.jwtAudience, .optional(.text), "TEXT",
            "what such a token must have as `aud`, or in it; unset: anything"),
        Setting(
            "account_reads_max", \.accountReadCountMax, .integer(1...1_000), "COUNT",
            "reads of one account that run at the same time on a node; more wait for up to 1 s, then get 429; keep it below "
                + "half of the database connections"),
        Setting(
            "session_polls_max", \.sessionPollCountMax, .integer(1...10_000), "COUNT",
            "polls and streams of one session that wait on a node; one more ends the oldest without events"),
        Setting(
            "account_polls_max", \.accountPollCountMax, .integer(1...100_000), "COUNT",
            "the same for all sessions of an account together"),
        Setting(
            "rate_limits", \.rateLimitsEnabled, .onOrOff, "on|off",
            "off: lifts the limits per time, and no other (docs/limits.md)"),
        Setting(
            "trusted_proxies", \.trustedProxies, .addressRanges, "ADDRESSES",
            "proxies whose X-Forwarded-For tells where a request comes from, as addresses and ranges (10.0.0.0/8) with "
                + "commas between them; without it all behind a proxy count as one client"),
        Setting(
            "text_bytes_max", \.limits.textByteCountMax, .integer(1...524_288), "BYTES",
            "longest text of a message, in bytes of UTF-8"),
        Setting(
            "payload_bytes_max", \.limits.payloadByteCountMax, .integer(1...524_288), "BYTES",
            "largest payload of a message, in bytes of JSON; not below the longest text"),
        Setting(
            "group_members_max", \.limits.groupMemberCountMax, .integer(2...100_000), "COUNT",
            "members of a group"),
        Setting(
            "room_members_max", \.limits.roomMemberCountMax, .integer(2...10_000_000), "COUNT",
            "members of a room"),
        Setting(
            "account_threads_max", \.limits.accountThreadCountMax, .integer(1...1_000_000), "COUNT",
            "threads that an account has joined or is invited to"),
        Setting(
            "strangers", \.limits.strangers, .word, "join|invite",
            "what becomes of members who are named by somebody that they share no thread with: join adds them, invite "
                + "invites them"),
        Setting(
            "title_characters_max", \.limits.titleCharacterCountMax, .integer(1...1_000), "COUNT",
            "longest title of a thread, in characters"),
        Setting(
            "account_sessions_max", \.limits.accountSessionCountMax, .integer(1...Limits.accountSessionCountCeiling),
            "COUNT", "sessions of an account; one more ends the one unused for longest", commands: [.serve, .admin]),
        Setting(
            "account_sign_ins_max", \.limits.accountSignInCountMax, .integer(1...1_000), "COUNT",
            "sign-ins to one account by password or code under way on a node at a time; one more is answered 429"),
        Setting(
            "address_sign_ins_max", \.limits.addressSignInCountMax, .integer(1...10_000), "COUNT",
            "sign-ins from one address by password or code under way on a node at a time; one more is answered 429"),
        Setting(
            "sign_in_wait_max_s", \.limits.signInWaitMaxS, .integer(1...86_400), "SECONDS",
            "longest wait after a wrong password: it doubles from the tenth in a row, 1 s at first (docs/limits.md)"),
        Setting(
            "sign_in_alarm", \.limits.signInAlarmCount, .integer(1...10_000), "COUNT",
            "different accounts or addresses whose sign-ins fail on a node within a minute before the log warns"),
        Setting(
            "password_workers", \.passwordWorkerCount, .integer(0...256), "COUNT",
            "passwords hashed at a time, each by a core and in 32 MiB; 0: as many as there are cores less one, 1 to 16"),
        Setting(
            "password_queue_max", \.passwordQueueMax, .integer(1...10_000), "COUNT",
            "passwords that wait to be hashed, served by client address in turn; one more is answered 503"),
        Setting(
            "tls_certificate_file", \.tlsCertificateFile, .optional(.path), "FILE",
            "PEM file of a certificate, and of those that sign it, to serve HTTPS by itself; taken up anew when it "
                + "changes; unset: HTTP"),
        Setting(
            "tls_key_file", \.tlsKeyFile, .optional(.path), "FILE", "PEM file of its key, without a pass phrase"),
        Setting(
            "cors_origins", \.corsOrigins, .origins, "ORIGINS",
            "origins whose web pages may call (CORS), as https://host, with commas between them; *: any; unset: none but "
                + "the service's own"),
        Setting(
            "connections_max", \.connectionCountMax, .integer(1...1_000_000), "COUNT",
            "open client connections; a new one closes the longest idle one, or is answered 503 where none is idle"),
        Setting(
            "address_connections_percent", \.addressConnectionsPercent, .integer(1...100), "PERCENT",
            "share of the connections that one client address may have once seven eighths of all are taken; trusted "
                + "proxies have no such bound; 100: no address has"),
        Setting(
            "incoming_bytes_max", \.incomingByteCountMax, .integer(4_194_304...1_099_511_627_776), "BYTES",
            "memory for the bodies of all requests under way; past it the largest incomplete ones are answered 503"),
        Setting(
            "drain_seconds", \.drainSeconds, .integer(0...8), "SECONDS",
            "over how long a stopping node spreads the answers to its waiting polls"),
        Setting(
            "log_days", \.logDays, .integer(1...3_650), "DAYS",
            "how long the log of events is kept; a client that comes back later loads its threads anew (messages stay)"),
        Setting(
            "device_silent_days", \.deviceSilentDays, .integer(1...3_650), "DAYS",
            "in threads that keep messages until they are delivered: how long a device that isn't used is waited for"),
        Setting(
            "search_configuration", \.searchConfiguration, .name, "NAME",
            "PostgreSQL's text search configuration by which messages are found, the same on all nodes; simple: words as "
                + "they are written; with another name (english, german, …) by their stems. A change has all messages "
                + "indexed anew"),
        Setting(
            "account_searches_max", \.limits.accountSearchCountMax, .integer(1...100), "COUNT",
            "searches of one account that run at once on a node; the next wait in a short line, and are answered 429 when it "
                + "is full"),
        Setting(
            "search_timeout_ms", \.limits.searchTimeoutMs, .integer(50...2_500), "MS",
            "after this time a search returns what it has found so far; the next page goes on from there"),
        Setting(
            "slow_request_ms", \.slowRequestMs, .integer(0...600_000), "MS",
            "requests that take longer to answer are logged, waiting polls aside; 0: none for that. Those that fail on "
                + "our side always are, up to 20 a second"),
        Setting(
            "log_level", \.logLevel, .word, "LEVEL",
            "trace, debug, info, notice, warning, error or critical", commands: [.serve, .migrate, .admin]),
        Setting(
            "log_format", \.logFormat, .word, "text|json", "json: one object a line; logs go to standard error",
            commands: [.serve, .migrate, .admin]),
    ]

    /// The quota of each limit per time.
    private static let quotas: [Setting] = RateLimit.all.map { limit in
        Setting(
            limit.settingKey, \.rateQuotas[limit], .integer(1...1_000_000), "COUNT",
            "limit in \(limit.windowS) s, \(limit.scope == .node ? "on each node" : "on all nodes together"): "
                + limit.subject)
    }

    /// What no row can say alone, as whole sentences.
    static func contradictions(in settings: Settings) -> [String] {
        var found: [String] = []
        if settings.listenURL != nil, settings.databaseURL == nil {
            found.append("PARLEY_LISTEN_URL says nothing without PARLEY_DATABASE_URL: set both or neither.")
        }
        if (settings.tlsCertificateFile == nil) != (settings.tlsKeyFile == nil) {
            found.append("PARLEY_TLS_CERTIFICATE_FILE and PARLEY_TLS_KEY_FILE go together: set both or neither.")
        }
        if settings.mailServer != nil, settings.mailSender == nil {
            found.append("PARLEY_SMTP_URL needs PARLEY_MAIL_FROM: relays take no mail that is from nobody.")
        }
        if settings.jwtKeysFile == nil, settings.jwtIssuer != nil || settings.jwtAudience != nil {
            found.append("PARLEY_JWT_ISSUER and PARLEY_JWT_AUDIENCE say nothing without PARLEY_JWT_KEYS.")
        }
        if case .address(let host, let port) = settings.metrics, port == settings.httpPort, host == settings.httpHost {
            found.append("PARLEY_METRICS names the address of the service itself; give it another port.")
        }
        found += pushContradictions(in: settings)
        let limits = settings.limits
        if limits.payloadByteCountMax < limits.textByteCountMax {
            found.append(
                "PARLEY_PAYLOAD_BYTES_MAX (\(limits.payloadByteCountMax)) is below PARLEY_TEXT_BYTES_MAX "
                    + "(\(limits.textByteCountMax)), but a payload holds the text.")
        }
        return found
    }

    private static func pushContradictions(in settings: Settings) -> [String] {
        var found: [String] = []
        let apns = [settings.apnsKeyFile, settings.apnsKeyID, settings.apnsTeamID]
        if apns.contains(where: { $0 == nil }), apns.contains(where: { $0 != nil }) {
            found.append("PARLEY_APNS_KEY_FILE, _KEY_ID and _TEAM_ID go together: set all or none.")
        }
        return found
    }
}
