// Names that could be mistaken for the service, its operators, or a word of the API. One list each.

extension Username {
    /// Compared in lower case. Accounts that already have such a name keep it, and an operator may assign any.
    private static let reserved: Set<String> = [
        // Words of the API and of programs.
        "me", "current", "null", "nil", "none", "undefined", "unknown", "true", "false", "api", "www",
        // The service and its operators.
        "parley", "system", "root", "admin", "administrator", "superuser", "sysadmin", "moderator", "operator",
        "official", "staff", "support", "helpdesk", "security", "abuse", "hostmaster", "postmaster", "webmaster",
        "mail", "noreply", "no-reply", "no_reply", "no.reply", "notifications",
        // Names for all users or for none.
        "all", "everyone", "everybody", "here", "channel", "anonymous", "deleted", "deleted-user", "deleted_user",
        "deleted.user",
    ]

    package var isReserved: Bool { Self.reserved.contains(key) }

    /// A name that a user chose.
    package static func chosen(_ json: JSONValue) throws(Invalid) -> Username {
        let name = try Username(json)
        guard !name.isReserved else { throw Invalid("Is reserved. Choose another username.") }
        return name
    }
}

extension DisplayName {
    /// The name shown for erased accounts (`erased_name` in SQL). No other account may use it.
    package static let ofErasedAccounts = "Deleted user"

    static func checkNotReserved(_ text: String) throws(Invalid) {
        guard text.comparisonKey != erasedKey else {
            throw Invalid("Is reserved: it is shown for erased accounts. Choose another name.")
        }
    }

    private static let erasedKey = ofErasedAccounts.comparisonKey
}
