// Names that would be taken for the service, its operators, or a word of the API. One list each.

extension Username {
    /// Compared in lower case. Accounts that have one already keep it, and an operator may give any.
    private static let reserved: Set<String> = [
        // Words of the API and of programs.
        "me", "current", "null", "nil", "none", "undefined", "unknown", "true", "false", "api", "www",
        // The service and those who run it.
        "parley", "system", "root", "admin", "administrator", "superuser", "sysadmin", "moderator", "operator",
        "official", "staff", "support", "helpdesk", "security", "abuse", "hostmaster", "postmaster", "webmaster",
        "mail", "noreply", "no-reply", "no_reply", "no.reply", "notifications",
        // Everybody, and nobody.
        "all", "everyone", "everybody", "here", "channel", "anonymous", "deleted", "deleted-user", "deleted_user",
        "deleted.user",
    ]

    package var isReserved: Bool { Self.reserved.contains(key) }

    /// The name that somebody chooses for themselves.
    package static func chosen(_ json: JSONValue) throws(Invalid) -> Username {
        let name = try Username(json)
        guard !name.isReserved else { throw Invalid("Is reserved. Choose another username.") }
        return name
    }
}

extension DisplayName {
    /// What erased accounts are shown as (`erased_name` in SQL), so nobody else may be called so.
    package static let ofErasedAccounts = "Deleted user"

    static func checkNotReserved(_ text: String) throws(Invalid) {
        guard text.comparisonKey != erasedKey else {
            throw Invalid("Is reserved: it is shown for erased accounts. Choose another name.")
        }
    }

    private static let erasedKey = ofErasedAccounts.comparisonKey
}
