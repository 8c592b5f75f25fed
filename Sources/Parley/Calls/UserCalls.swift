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

    /// Reports a person to the moderators. `POST /v1/reports`
    public func report(_ id: UserID, reason: String) -> Call<Report> {
        Call("POST", "v1", "reports", body: ["user_id": .init(id), "reason": .string(reason)])
    }

    /// Reports a message to the moderators, who see it as it is now. `POST /v1/reports`
    public func report(_ message: MessageID, in thread: ThreadID, reason: String) -> Call<Report> {
        Call(
            "POST", "v1", "reports",
            body: ["thread_id": .init(thread), "message_id": .init(message), "reason": .string(reason)])
    }
}
