// Loads settings from flags, environment and file, and reports mistakes in them.
import CommandLineFlags
import Domain
import Logging
import ServiceConfiguration
import Testing

@Suite("Loading settings", .timeLimit(.minutes(1)))
struct LoadingSettings {
    private func load(
        _ arguments: [String] = [], _ environment: [String: String] = [:], for command: Command = .serve,
        file: String = ""
    ) throws(ConfigurationErrors) -> Settings {
        try Settings.load(arguments: arguments, environment: environment, for: command) { path in
            guard path == "parley.conf" else { throw Missing() }
            return file
        }
    }

    private struct Missing: Error, CustomStringConvertible { let description = "there is no such file" }

    private func mistakes(
        _ arguments: [String] = [], _ environment: [String: String] = [:], for command: Command = .serve,
        file: String = ""
    ) -> [String] {
        do {
            _ = try load(arguments, environment, for: command, file: file)
            return []
        } catch {
            return error.mistakes
        }
    }

    @Test("returns the defaults if nothing is set")
    func defaults() throws {
        let settings = try load()
        #expect(settings == Settings())
        #expect(settings.httpHost == "127.0.0.1" && settings.httpPort == 8080)
        #expect(settings.databaseURL == nil && settings.dataDirectory == ".parley" && settings.migration == .auto)
        #expect(settings.logLevel == .info && settings.logFormat == .text && settings.rateLimitsEnabled)
        #expect(settings.limits == Limits())
    }

    @Test("prefers a flag to the environment, the environment to the file, and the file to the default")
    func precedence() throws {
        let file = "http_port = 1\ndrain_seconds = 1\nlog_level = trace"
        let settings = try load(
            ["--config", "parley.conf", "--http-port", "3"], ["PARLEY_HTTP_PORT": "2", "PARLEY_DRAIN_SECONDS": "2"],
            file: file)
        #expect(settings.httpPort == 3)
        #expect(settings.drainSeconds == 2)
        #expect(settings.logLevel == .trace)
        #expect(settings.logFormat == .text)
    }

    @Test("accepts every setting by flag, variable and file key alike", arguments: Setting.all)
    func sameNames(setting: Setting) throws {
        let isQuota = RateLimit.all.contains { $0.settingKey == setting.key }
        let value = try #require(isQuota ? "7" : Self.others[setting.key])
        // Without the database's address the listener's would be refused, and so on.
        let base =
            switch setting.key {
            case "listen_url", "read_url": ["--database-url", "host=pooler"]
            case "smtp_url": ["--mail-from", "a@b.example"]
            case "jwt_issuer", "jwt_audience": ["--jwt-keys", "jwks.json"]
            case "apns_key_file": ["--apns-key-id", "ABCDE12345", "--apns-team-id", "ABCDE12345"]
            case "apns_key_id": ["--apns-key-file", "apns.p8", "--apns-team-id", "ABCDE12345"]
            case "apns_team_id": ["--apns-key-file", "apns.p8", "--apns-key-id", "ABCDE12345"]
            case "policy_fail": ["--policy-url", "http://policy"]
            case "scan_fail": ["--scan-url", "clamd://scanner"]
            case "s3_endpoint", "s3_bucket", "s3_access_key", "s3_secret_key":
                ["endpoint=http://s3", "bucket=files", "access-key=a", "secret-key=b"].map { "--s3-" + $0 }
                    .filter { !$0.hasPrefix(setting.flag + "=") }
            case "tls_key_file": ["--tls-certificate-file", "/tls.crt"]
            case "tls_certificate_file": ["--tls-key-file", "/tls.key"]
            default: [String]()
            }
        let byFlag = try load(base + [setting.flag, value])
        let byEqualsSign = try load(base + ["\(setting.flag)=\(value)"])
        let byVariable = try load(base, [setting.variable: value])
        #expect(setting.shown(in: byFlag) != setting.shown(in: Settings()), "the value reaches its field")
        #expect(byEqualsSign == byFlag)
        #expect(byVariable == byFlag)
        guard setting.isAllowedInFile else { return }
        var byFile = try load(base + ["--config", "parley.conf"], file: "\(setting.key) = \(value)")
        byFile.configurationFile = nil
        #expect(byFile == byFlag)
    }

    /// For each setting a legal value that isn't its default.
    private static let others = [
        "config": "parley.conf", "http_host": "::1", "http_port": "0", "database_url": "postgresql://db/chat",
        "outbox_urls": "host=shop dbname=shop,postgresql://a,b/crm",
        "listen_url": "host=db dbname=chat", "read_url": "host=standby dbname=chat", "database_connections": "2",
        "data_dir": "/var/lib/parley",
        "prepared_statements": "on", "migrate": "off", "account_threads_max": "9", "strangers": "invite",
        "registration": "invited", "directory": "shared",
        "account_searches_max": "3", "search_timeout_ms": "500",
        "rate_limits": "off", "text_bytes_max": "1000",
        "payload_bytes_max": "100000",
        "group_members_max": "10", "room_members_max": "20", "title_characters_max": "30", "connections_max": "40",
        "address_connections_percent": "50", "incoming_bytes_max": "8388608", "metrics": "[::1]:9090",
        "web": "off", "public_url": "https://chat.example:8443",
        "policy_url": "http://10.0.0.7:9000/parley?key=a", "policy_fail": "closed", "policy_timeout_ms": "250",
        "webhook_retries": "1,20,300", "drain_seconds": "8", "log_days": "30", "device_silent_days": "7",
        "edit_history": "off", "retention_max": "86400", "retention_default": "3600", "slow_request_ms": "250",
        "log_level": "debug",
        "tls_certificate_file": "/tls.crt", "tls_key_file": "/tls.key",
        "log_format": "json", "search_configuration": "english", "smtp_url": "smtp://relay.example:587",
        "mail_from": "Ann's chat <chat@a.example>", "ca_file": "/etc/ca.pem", "app_name": "Ann's chat",
        "session_idle_days": "30", "jwt_keys": "jwks.json", "jwt_issuer": "https://app.example", "jwt_audience": "chat",
        "cors_origins": "https://chat.example,http://localhost:3000", "trusted_proxies": "10.0.0.0/8,::1",
        "admin_token": "0123456789abcdef", "apns_key_file": "apns.p8", "apns_key_id": "ABCDE12345",
        "apns_team_id": "TEAM012345", "apns_topic": "chat.example", "apns_url": "https://127.0.0.1:8443",
        "fcm_account_file": "account.json", "fcm_url": "http://127.0.0.1:8080", "push_allow_private": "true",
        "webpush_subject": "mailto:ops@chat.example", "push_wait_ms": "100", "push_life_hours": "48",
        "push_connections": "2", "read_timeout_ms": "500", "account_reads_max": "2", "session_polls_max": "3",
        "account_polls_max": "30",
        "attachment_bytes_max": "1000", "attachment_quota_bytes": "2000", "unused_attachments_max": "10",
        "unused_attachment_hours": "1", "uploads_max": "5", "account_uploads_max": "2", "downloads_max": "6",
        "account_downloads_max": "3", "upload_104": "on", "scan_url": "clamd://scanner:3310", "scan_fail": "open",
        "s3_endpoint": "https://s3.example", "s3_bucket": "chat", "s3_region": "garage", "s3_access_key": "AKIA",
        "s3_secret_key": "abc/+=", "s3_path_style": "false", "s3_serve": "redirect",
        "account_sessions_max": "5", "account_sign_ins_max": "3", "address_sign_ins_max": "4",
        "sign_in_wait_max_s": "60", "sign_in_alarm": "10", "password_workers": "2", "password_queue_max": "20",
        "password_cost": "13",
    ]

    @Test("treats an empty variable as unset")
    func emptyVariable() throws {
        #expect(try load([], ["PARLEY_HTTP_PORT": "", "PARLEY_DATABASE_URL": "", "PARLEY_CONFIG": ""]) == Settings())
    }

    @Test("finds the file through PARLEY_CONFIG, and ignores comments, blank lines and spaces")
    func file() throws {
        let settings = try load(
            [], ["PARLEY_CONFIG": "parley.conf"],
            file: "# Parley\r\n\r\n  http_port=81  \n\n#http_port = 82\ndatabase_url = host=db password='#1 = x'\n")
        #expect(settings.httpPort == 81)
        #expect(settings.databaseURL == "host=db password='#1 = x'")
    }

    @Test("accepts unknown variables and keeps their names, but not their values")
    func unknownVariables() throws {
        let settings = try load(
            [], ["PARLEY_ADMIN_TOKENS": "s3cret", "PARLEY_HTTP_PROT": "1", "PARLEY": "x", "HOME": "/"])
        #expect(settings.unknownVariables == ["PARLEY_ADMIN_TOKENS", "PARLEY_HTTP_PROT"])
        #expect(Setting.variables(near: "PARLEY_ADMIN_TOKENS") == ["PARLEY_ADMIN_TOKEN"])
        #expect(Setting.variables(near: "PARLEY_PORT") == ["PARLEY_HTTP_PORT"])
        #expect(Setting.variables(near: "PARLEY_NOTHING_LIKE_IT").isEmpty)
    }

    @Test("reports all mistakes together, each under the name that the user wrote")
    func allMistakes() {
        let found = mistakes(
            ["--http-port", "80a", "--http-prot=1", "--config=parley.conf"],
            ["PARLEY_LOG_LEVEL": "loud", "PARLEY_DATABASE_URL": "mysql://joe:s3cret@db"],
            file: "drain_seconds = 9\nhttp_host = a:80\nnonsense\ndrain_seconds = 1\nconfig = x\nport = 1\nmigrate =\n")
        #expect(
            found == [
                "\"--http-prot\" is not a flag of `parley serve` (see --help). Did you mean --http-port?",
                "--http-port: \"80a\" is not a whole number from 0 to 65535.",
                "PARLEY_DATABASE_URL: the value is not a PostgreSQL URL (postgresql://…) or libpq keywords "
                    + "(host=… dbname=…).",
                "PARLEY_LOG_LEVEL: \"loud\" is not "
                    + "\"trace\", \"debug\", \"info\", \"notice\", \"warning\", \"error\" or \"critical\".",
                "parley.conf, line 3: expected `key = value`.",
                "parley.conf, line 4: \"drain_seconds\" is already set in line 1.",
                "parley.conf, line 7: \"migrate\" has no value. Remove the line to use the default.",
                "parley.conf, line 1, drain_seconds: \"9\" is not a whole number from 0 to 8.",
                "parley.conf, line 2, http_host: \"a:80\" is not a host name or an address "
                    + "(the port has its own setting).",
                "parley.conf, line 5: \"config\" is not a setting.",
                "parley.conf, line 6: \"port\" is not a setting. Did you mean http_port?",
            ])
    }

    @Test("refuses words that are not flags, missing values and repeated flags")
    func badFlags() {
        #expect(mistakes(["serve"]) == ["\"serve\" is not a flag: `parley serve` accepts only flags (see --help)."])
        #expect(mistakes(["--http-port"]) == ["--http-port needs a value."])
        #expect(mistakes(["--http-port", "--http-host"]).count == 2)
        #expect(mistakes(["--http-port="]) == ["--http-port needs a value."])
        #expect(mistakes(["--http-port=1", "--http-port=2"]) == ["--http-port is given more than once."])
        #expect(mistakes(["--", "x"]).count == 1)
        #expect(mistakes(["--http-prot", "80"]).count == 1, "an unknown flag's value is no mistake of its own")
    }

    @Test("refuses flags of other commands, but shares file and environment among all commands")
    func commands() throws {
        #expect(
            mistakes(["--http-port", "1"], for: .migrate) == [
                "\"--http-port\" is not a flag of `parley migrate` (see --help)."
            ])
        let settings = try load(
            ["--config", "parley.conf"], ["PARLEY_HTTP_PORT": "2"], for: .migrate, file: "drain_seconds = 1")
        #expect(settings.httpPort == 2 && settings.drainSeconds == 1)
    }

    @Test("reports why the file cannot be read")
    func unreadableFile() {
        let found = mistakes(["--config", "none.conf"])
        #expect(found == ["The configuration file \"none.conf\" cannot be read: there is no such file."])
    }

    @Test(
        "refuses numbers that are not plain or out of range",
        arguments: ["-1", "+1", "1.0", "0x10", " 1", "1e3", "65536", "99999999999999999999", "٣"])
    func badNumbers(text: String) {
        #expect(mistakes(["--http-port=\(text)"]).count == 1)
    }

    @Test("accepts an origin as the public URL, without its last slash, and nothing with a path, a query or a user")
    func publicURL() throws {
        for (text, origin) in [
            ("https://chat.example", "https://chat.example"),
            ("https://Chat.example:8443/", "https://chat.example:8443"),
            ("http://[::1]:8080", "http://[::1]:8080"), ("http://10.0.0.7/", "http://10.0.0.7"),
        ] {
            #expect(try load(["--public-url", text]).publicURL == origin)
        }
        for text in [
            "chat.example", "https://", "https://chat.example/chat", "https://chat.example?a=b",
            "https://a@chat.example",
            "ftp://chat.example", "https://chat.example:0", "https://chat.example:65536", "https://chat.example//", "*",
            "https://a.example,https://b.example",
        ] {
            #expect(
                mistakes(["--public-url", text]) == [
                    "--public-url: \"\(text)\" is not a URL of the form https://host or http://host:port, without a path."
                ])
        }
    }

    @Test(
        "opens /metrics on loopback by default",
        arguments: [
            ("127.0.0.1", .open), ("127.9.9.9", .open), ("::1", .open), ("localhost", .open), ("0.0.0.0", .admin),
            ("::", .admin), ("127.0.0.1.example", .admin), ("192.0.2.1", .admin),
        ] as [(String, Settings.Metrics)])
    func metricsByDefault(_ host: String, _ expected: Settings.Metrics) throws {
        #expect(try load(["--http-host", host]).metricsInUse == expected)
        #expect(try load(["--http-host", host, "--metrics", "open"]).metricsInUse == .open)
        #expect(try load(["--http-host", host, "--metrics", "admin"]).metricsInUse == .admin)
    }

    @Test(
        "lets everyone register on loopback by default, and nobody elsewhere",
        arguments: [
            ("127.0.0.1", .open), ("::1", .open), ("localhost", .open), ("0.0.0.0", .closed), ("::", .closed),
            ("192.0.2.1", .closed),
        ] as [(String, RegistrationRule)])
    func registrationByDefault(_ host: String, _ expected: RegistrationRule) throws {
        #expect(try load(["--http-host", host]).registrationInUse == expected)
        for rule in RegistrationRule.allCases {
            #expect(try load(["--http-host", host, "--registration", rule.rawValue]).registrationInUse == rule)
        }
    }

    @Test("accepts a separate address for /metrics, but not the API's own")
    func metricsAddress() throws {
        for (text, host, port) in [
            ("10.0.0.1:9090", "10.0.0.1", 9090), ("[::1]:1", "::1", 1), ("db-1:65535", "db-1", 65_535),
        ] {
            #expect(try load([], ["PARLEY_METRICS": text]).metrics == .address(host: host, port: port))
        }
        for text in ["Open", "9090", ":9090", "host:", "host:0", "host:65536", "::1:9090", "http://host:9090"] {
            #expect(mistakes([], ["PARLEY_METRICS": text]).count == 1, "\(text)")
        }
        #expect(mistakes(["--metrics", "127.0.0.1:8080"]).first?.contains("PARLEY_METRICS") == true)
    }

    @Test("accepts a ClamAV daemon by host or by socket, and nothing else")
    func scanner() throws {
        for (text, address) in [
            ("clamd://scanner", .host("scanner", port: 3310)), ("clamd://10.0.0.1:1", .host("10.0.0.1", port: 1)),
            ("clamd://[::1]:3310", .host("::1", port: 3310)), ("clamd:///run/c.sock", .socket(path: "/run/c.sock")),
        ] as [(String, ScannerAddress)] {
            #expect(try load([], ["PARLEY_SCAN_URL": text]).scanner == address)
        }
        let long = "clamd:///" + String(repeating: "a", count: 107)
        for text in ["scanner:3310", "http://scanner", "clamd://", "clamd:///", "clamd://host:0", "clamd://::1", long] {
            #expect(mistakes([], ["PARLEY_SCAN_URL": text]).count == 1, "\(text)")
        }
        #expect(
            mistakes(["--scan-fail", "open"]) == [
                "PARLEY_SCAN_FAIL=open needs PARLEY_SCAN_URL: set the virus scanner's address."
            ])
    }

    @Test("refuses settings that contradict each other")
    func contradictions() {
        let found = mistakes([], ["PARLEY_LISTEN_URL": "host=db", "PARLEY_TEXT_BYTES_MAX": "70000"])
        #expect(found.count == 2)
        #expect(found.first?.hasPrefix("PARLEY_LISTEN_URL") == true)
        #expect(found.last?.contains("PARLEY_PAYLOAD_BYTES_MAX (65536) is below") == true)
        #expect(
            mistakes(["--read-url", "host=standby"])
                == ["PARLEY_READ_URL needs PARLEY_DATABASE_URL: set both or neither."])
    }

    @Test("accepts an object store only as a whole, and never repeats its secret")
    func objectStore() throws {
        let whole = [
            "PARLEY_S3_ENDPOINT": "https://s3.example.com/", "PARLEY_S3_BUCKET": "chat-files",
            "PARLEY_S3_ACCESS_KEY": "AKIA1", "PARLEY_S3_SECRET_KEY": "s3cret/+=",
        ]
        let settings = try Settings.load(
            arguments: ["--s3-path-style=false", "--s3-serve=redirect"], environment: whole)
        #expect(settings.s3Endpoint == "https://s3.example.com" && settings.s3Region == "us-east-1")
        #expect(!settings.s3UsesPathStyle && settings.s3Serving == .redirect)
        #expect(settings.effectiveDescription.contains("s3_secret_key=***"))
        for name in whole.keys {
            let found = mistakes([], whole.filter { $0.key != name })
            #expect(found.count == 1 && found.first?.contains("belong together") == true)
        }
        for (name, value) in [
            ("PARLEY_S3_SECRET_KEY", "s3 cret"), ("PARLEY_S3_BUCKET", "Chat"), ("PARLEY_S3_BUCKET", "a/b"),
            ("PARLEY_S3_ENDPOINT", "s3.example.com"), ("PARLEY_S3_REGION", "us east"),
        ] {
            let found = mistakes([], whole.merging([name: value]) { $1 })
            #expect(found.count == 1 && found.first?.hasPrefix(name) == true, "\(found)")
            #expect(!found.joined().contains("s3 cret"))
        }
    }

    @Test("describes one mistake as a sentence and several as a list, each on one line")
    func description() {
        #expect(throws: ConfigurationErrors(mistakes: ["--http-port needs a value."])) { try load(["--http-port"]) }
        let many = #expect(throws: ConfigurationErrors.self) { try load(["--http-port=\u{1b}\n", "--log-level"]) }
        #expect(
            many?.description == """
                The configuration has 2 mistakes:
                  - --log-level needs a value.
                  - --http-port: "\\u{1b}\\u{a}" is not a whole number from 0 to 65535.
                """)
    }
}
