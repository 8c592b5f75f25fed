// The settings of accounts, sign-in and everything that is sent to people outside of the API.
internal import Domain

extension SettingGroup {
    static let accounts = SettingGroup(
        "Accounts and sign-in",
        [
            Setting(
                "registration", \.registration, .optional(.word), "open|invited|closed",
                "who may create an account by password or e-mail: open: everyone; invited: callers with an invitation of "
                    + "the operator; closed: nobody. Tokens of the host app, imports and the admin API always may; unset: "
                    + "open on loopback, otherwise closed"),
            Setting(
                "directory", \.limits.directory, .word, "everyone|shared|off",
                "whom GET /v1/users?query= finds: everyone; shared: people who share a thread with the caller; off: nobody"
            ),
            Setting(
                "session_idle_days", \.sessionIdleDays, .integer(1...3_650), "DAYS",
                "sign a device out after this many days without use"),
            Setting(
                "account_sessions_max", \.limits.accountSessionCountMax,
                .integer(1...Limits.accountSessionCountCeiling), "COUNT",
                "maximum sessions of an account; a new one ends the least recently used one",
                commands: [.serve, .admin]),
            Setting(
                "account_sign_ins_max", \.limits.accountSignInCountMax, .integer(1...1_000), "COUNT",
                "maximum sign-ins to one account, by password or code, in progress on a node; more get 429"),
            Setting(
                "address_sign_ins_max", \.limits.addressSignInCountMax, .integer(1...10_000), "COUNT",
                "maximum sign-ins from one client address, by password or code, in progress on a node; more get 429"),
            Setting(
                "sign_in_wait_max_s", \.limits.signInWaitMaxS, .integer(1...86_400), "SECONDS",
                "maximum wait after a wrong password; the wait starts with 1 s at the tenth in a row and doubles"),
            Setting(
                "sign_in_alarm", \.limits.signInAlarmCount, .integer(1...10_000), "COUNT",
                "log a warning when sign-ins to this many different accounts, or from this many addresses, fail on a "
                    + "node within a minute"),
        ])

    static let passwords = SettingGroup(
        "Password hashing",
        [
            Setting(
                "password_workers", \.passwordWorkerCount, .integer(0...256), "COUNT",
                "passwords hashed in parallel, each with one core and the memory of its cost; 0: the number of cores less "
                    + "one, 1 to 16"),
            Setting(
                "password_queue_max", \.passwordQueueMax, .integer(1...10_000), "COUNT",
                "maximum passwords that wait to be hashed, served by client address in turn; more get 503"),
            Setting(
                "password_cost", \.passwordCost, .integer(12...18), "COST",
                "cost of a password's hash, scrypt with N = 2^COST; each step doubles time and memory, 15 takes 75 ms "
                    + "and 32 MiB; a sign-in replaces a hash of another cost; below 15 only for tests",
                commands: [.serve, .admin, .initialise]),
        ])

    static let hostAppTokens = SettingGroup(
        "Sign-in with the host app's tokens",
        [
            Setting(
                "jwt_keys", \.jwtKeysFile, .optional(.path), "FILE",
                "JSON Web Key Set that verifies tokens signed by the host app's server; reloaded when it changes; "
                    + "unset: such tokens are refused"),
            Setting(
                "jwt_issuer", \.jwtIssuer, .optional(.text), "TEXT", "required `iss` claim; unset: any issuer"),
            Setting(
                "jwt_audience", \.jwtAudience, .optional(.text), "TEXT",
                "required `aud` claim, or one of its entries; unset: any audience"),
        ])

    static let mail = SettingGroup(
        "Mail",
        [
            Setting(
                "smtp_url", \.mailServer, .optional(.mailServer), "URL",
                "mail relay for sign-in codes: smtp://user:password@host:587 or smtps://…; STARTTLS is required unless "
                    + "?starttls=off is appended or the relay is on this host; unset: no sign-in by mail",
                exposure: .connectionString),
            Setting(
                "mail_from", \.mailSender, .optional(.mailSender), "ADDRESS",
                "sender of e-mails: an address, or Name <address>; required with the SMTP URL"),
            Setting(
                "app_name", \.appName, .line(characterCountMax: 64), "NAME",
                "service name, shown by clients and in e-mails"),
        ])

    static let push = SettingGroup(
        "Push",
        [
            Setting(
                "apns_key_file", \.apnsKeyFile, .optional(.path), "FILE",
                "Apple push key (.p8); unset: no alerts to Apple devices"),
            Setting(
                "apns_key_id", \.apnsKeyID, .optional(.appleID), "ID", "id of the Apple push key, ten characters"),
            Setting(
                "apns_team_id", \.apnsTeamID, .optional(.appleID), "ID", "id of the Apple team, ten characters"),
            Setting(
                "apns_topic", \.apnsTopic, .optional(.text), "TOPIC",
                "bundle id of the app, for devices that do not send one"),
            Setting(
                "apns_url", \.apnsURL, .optional(.webURL), "URL",
                "replaces both APNs hosts (production and sandbox), for tests"),
            Setting(
                "fcm_account_file", \.fcmAccountFile, .optional(.path), "FILE",
                "Google service account (JSON) for Firebase Cloud Messaging; unset: no alerts through FCM"),
            Setting(
                "fcm_url", \.fcmURL, .optional(.webURL), "URL",
                "replaces fcm.googleapis.com, for tests; the token URL is in the account file"),
            Setting(
                "webpush_subject", \.webPushSubject, .optional(.contact), "URL",
                "contact address sent to Web Push services (VAPID subject), mailto:… or https://…; unset: no Web Push"),
            Setting(
                "push_allow_private", \.pushAllowsPrivate, .trueOrFalse, "true|false",
                "true: allow push endpoints in private networks; for tests only"),
            Setting(
                "push_wait_ms", \.pushWaitMs, .integer(0...60_000), "MS",
                "time after the end of a device's last poll during which it gets no alerts, because it may poll again"),
            Setting(
                "push_life_hours", \.pushLifeHours, .integer(1...672), "HOURS",
                "drop alerts that could not be sent within this many hours"),
            Setting(
                "push_connections", \.pushConnectionCountMax, .integer(1...100), "COUNT",
                "connections of a node to each push service"),
        ])

    static let webhooks = SettingGroup(
        "Webhooks",
        [
            Setting(
                "webhook_retries", \.webhookRetries,
                .seconds(countMax: WebhookLimits.retryCountMax, 0...WebhookLimits.retrySecondsMax), "SECONDS",
                "seconds between the tries of an event that a webhook has not accepted, separated by commas; after the last "
                    + "try the event is parked")
        ])

    static let policy = SettingGroup(
        "Policy",
        [
            Setting(
                "policy_url", \.policyURL, .optional(.policyURL), "URL",
                "service that is asked before a message or an edit is accepted: http://host:port/path or https://…; may be "
                    + "in a private network; unset: nothing is asked",
                exposure: .connectionString),
            Setting(
                "policy_fail", \.policyFail, .word, "open|closed",
                "while the policy does not answer: open: messages are accepted; closed: they are refused with 503"),
            Setting(
                "policy_timeout_ms", \.policyTimeoutMs, .integer(10...10_000), "MS",
                "maximum time for an answer of the policy"),
        ])
}
