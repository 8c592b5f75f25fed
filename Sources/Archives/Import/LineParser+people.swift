// Lines about accounts: `user` and `block`.
import Domain

extension LineParser {
    func user(_ data: JSONValue, line: Int) throws(Invalid) -> JSONValue {
        var fields = try Fields(data, ignoresUnknown: true)
        let id = fields.required("id", UserID.self)
        let erasedAt = fields.optional("erased_at", Timestamp.self)
        let isErased = erasedAt != nil || data["name"]?.string == DisplayName.ofErasedAccounts
        let name = isErased ? nil : fields.required("name", DisplayName.self)
        let username = fields.optional("username", Username.self)
        let image = fields.optional("profile_image", Picture.self)
        let status = fields.optional("status_text", StatusText.self)
        let email = fields.optional("email", EmailAddress.self)
        let external = fields.optional("external_id", ExternalID.self)
        let kind = fields.optional("kind", AccountKind.self) ?? .person
        let preferences = fields.optional("preferences", Preferences.self)
        let custom = fields.optional("custom", CustomData.self)
        let isSuspended = fields.optional("suspended", Bool.self) ?? false
        let createdAt = fields.required("created_at", Timestamp.self)
        try fields.end()

        var row = RowWriter(line: line)
        row.set("id", id)
        row.set("name", name?.text ?? DisplayName.ofErasedAccounts)
        row.set("words", .array((name?.directoryWords(with: nil) ?? []).map(JSONValue.string)))
        row.set("created_at", createdAt)
        row.set("preferences", isErased ? .object([]) : preferences?.json ?? .object([]))
        row.set("is_suspended", isSuspended && !isErased)
        row.set("is_erased", isErased)
        if kind == .bot { row.set("is_bot", true) }
        // Nothing else is left of an erased account.
        guard !isErased else { return row.json }
        row.set("username", username?.text)
        row.set("username_key", username?.key)
        row.set("profile_image", image?.text)
        row.set("status_text", status?.text)
        row.set("email", email?.text)
        row.set("email_key", email?.key)
        row.set("external_id", external?.text)
        row.set("custom", custom?.text)
        return row.json
    }

    func block(_ data: JSONValue, line: Int) throws(Invalid) -> JSONValue {
        var fields = try Fields(data, ignoresUnknown: true)
        let user = fields.required("user_id", UserID.self)
        let blocked = fields.required("blocked_id", UserID.self)
        let createdAt = fields.required("created_at", Timestamp.self)
        if let user, user == blocked { fields.refuse("blocked_id", "Must be another user.") }
        try fields.end()
        var row = RowWriter(line: line)
        row.set("user_id", user)
        row.set("blocked_id", blocked)
        row.set("created_at", createdAt)
        return row.json
    }
}
