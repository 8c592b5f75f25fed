// Other people.

extension Call {
    /// Other people.
    public static var users: UserCalls { UserCalls() }
}

/// `Call.users`.
public struct UserCalls: Sendable {
    /// People whose username, name, or a word of the name begins with the text. `GET /v1/users`
    public func search(_ text: String, limit: Int? = nil, page: String? = nil) -> Call<UserPage> {
        Call("GET", "v1", "users", query: [("query", text)] + .page(limit, page))
    }

    /// A person's profile. `GET /v1/users/{user_id}`
    public func get(_ id: UserID) -> Call<User> { Call("GET", "v1", "users", id.rawValue) }
}
