// The e-mail address of an account.
import Domain
import Postgres

extension Store {
    /// Notes the address that an account wants, and queues a mail with a code to it. Does the same for every address.
    package func askForEmail(_ email: EmailAddress, of user: UserID) async throws {
        try await call("account_email_ask", [.id(MailID.make()), .id(user), .text(email.text), .text(email.key)])
    }

    /// Returns the address that the account has asked for last.
    package func wantedEmail(of user: UserID) async throws -> EmailAddress? {
        let text = try await value("account_email_wish", [.id(user)]) { try $0.textOrNull(0) }
        return try await decoded { try text.map { try EmailAddress(text: $0) } }
    }

    /// Makes the address the account's, by the mailed code with this hash. Returns the account; nil if the code is no
    /// longer valid, or the address is another account's.
    package func confirmEmail(_ email: EmailAddress, hash: String, of user: UserID) async throws -> JSONText? {
        try await value(
            "account_email_confirm", [.id(MailID.make()), .id(user), .text(email.key), .text(hash)]
        ) { try $0.bytesOrNull(0).map { JSONText(utf8: $0) } }
    }

    /// Removes the account's address. Throws `email_needed`.
    package func deleteEmail(of user: UserID) async throws {
        try await call("account_email_delete", [.id(MailID.make()), .id(user)])
    }

    /// Deletes wishes whose codes have expired, at most `limit`. Returns how many.
    package func sweepEmailWishes(limit: Int) async throws -> Int {
        try await value("email_wish_sweep", [.int(limit)]) { Int(try $0.int4(0)) }
    }
}
