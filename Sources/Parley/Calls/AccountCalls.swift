// The own account, and the people whom the user has blocked.
import Foundation

extension Call {
    /// The own account.
    public static var account: AccountCalls { AccountCalls() }
}

/// `Call.account`.
public struct AccountCalls: Sendable {
    /// The own account. `GET /v1/users/me`
    public func get() -> Call<Account> { Call("GET", "v1", "users", "me") }

    /// Changes the own account. `preferences` and `custom` are replaced as a whole. An image is a URL, or `attachment:` and
    /// the id of an uploaded picture. `PATCH /v1/users/me`
    public func update(
        name: String? = nil, profileImage: FieldChange<String> = .unchanged,
        statusText: FieldChange<String> = .unchanged, preferences: Preferences? = nil,
        custom: FieldChange<[String: JSONValue]> = .unchanged
    ) -> Call<Account> {
        let body: JSONValue = .fields([
            "name": name.map { .string($0) }, "profile_image": profileImage.json { .string($0) },
            "status_text": statusText.json { .string($0) }, "preferences": preferences?.json,
            "custom": custom.json { .object($0) },
        ])
        return Call("PATCH", "v1", "users", "me", body: body)
    }

    /// Erases the own account, and with `erasingMessages` also its messages, for everyone. `DELETE /v1/users/me`
    public func erase(erasingMessages: Bool = false) -> Call<Void> {
        Call("DELETE", "v1", "users", "me", query: [("messages", erasingMessages ? "erase" : "keep")])
    }

    /// Changes the password, and signs out all other devices. `PUT /v1/users/me/password`
    public func changePassword(from current: String, to new: String) -> Call<Void> {
        Call("PUT", "v1", "users", "me", "password", body: ["current": .string(current), "new": .string(new)])
    }

    /// Mails a code to an address that the account is to have. The answer does not say whether it is another account's.
    /// `PUT /v1/users/me/email`
    public func changeEmail(to email: String) -> Call<Void> {
        Call("PUT", "v1", "users", "me", "email", body: ["email": .string(email)])
    }

    /// Makes the address the account's, by the mailed code. `POST /v1/users/me/email`
    public func confirmEmail(code: String) -> Call<Account> {
        Call("POST", "v1", "users", "me", "email", body: ["code": .string(code)])
    }

    /// Removes the account's address. `DELETE /v1/users/me/email`
    public func removeEmail() -> Call<Void> { Call("DELETE", "v1", "users", "me", "email") }

    /// Everything that the server stores about the user: one JSON object a line. Throws
    /// `ParleyError.unreadableAnswer` if the export broke off. `GET /v1/users/me/export`
    public func export() -> Call<Data> {
        var call = Call<Data>("GET", "v1", "users", "me", "export") { answer in
            let lines = answer.body.split(separator: UInt8(ascii: "\n"))
            let last = try lines.last.map { try JSONDecoder().decode(JSONValue.self, from: $0) }
            guard last?["type"]?.string == "end" else { throw ParleyError.unreadableAnswer("the export broke off") }
            return answer.body
        }
        call.timeout = .seconds(120)
        return call
    }

    /// The people whom the user has blocked, latest first. `GET /v1/users/me/blocks`
    public func blocks(limit: Int? = nil, page: String? = nil) -> Call<BlockPage> {
        Call("GET", "v1", "users", "me", "blocks", query: .page(limit, page))
    }

    /// Blocks a person. `PUT /v1/users/me/blocks/{user_id}`
    public func block(_ id: UserID) -> Call<Void> { Call("PUT", "v1", "users", "me", "blocks", id.rawValue) }

    /// Unblocks a person. `DELETE /v1/users/me/blocks/{user_id}`
    public func unblock(_ id: UserID) -> Call<Void> { Call("DELETE", "v1", "users", "me", "blocks", id.rawValue) }
}
