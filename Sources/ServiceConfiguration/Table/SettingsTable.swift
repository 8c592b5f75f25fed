// The one list of settings. Flags, variables, the file, `--help` and docs/configuration.md all come from this list.
internal import Domain

extension SettingGroup {
    /// All settings by subject, in the order of the help.
    package static let all = [
        configurationFile, http, tls, database, accounts, passwords, hostAppTokens, mail, push, webhooks, policy,
        messages,
        attachments,
        objectStore, capacity, retention, search, operation, rateLimits,
    ]

    /// The quota of each rate limit.
    private static let rateLimits = SettingGroup(
        "Rate limits",
        [
            Setting(
                "rate_limits", \.rateLimitsEnabled, .onOrOff, "on|off",
                "off: disable all rate limits below and the wait after wrong passwords, for tests; other limits stay")
        ]
            + RateLimit.all.map { limit in
                let scope = limit.scope == .node ? "on each node" : "on all nodes together"
                return Setting(
                    limit.settingKey, \.rateQuotas[limit], .integer(1...1_000_000), "COUNT",
                    "maximum in \(limit.windowS) s, counted \(scope): \(limit.subject)")
            })
}

extension Setting {
    /// All settings, in the order of the help.
    package static let all: [Setting] = SettingGroup.all.flatMap(\.settings)
}
