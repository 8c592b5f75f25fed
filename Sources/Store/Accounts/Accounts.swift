// Accounts.
import Domain
import Postgres

extension Store {
    /// Creates an account that signs in by password, with its first session. `key` and `words` are case-folded.
    /// - Parameter invitation: is used for the account; nil where no invitation is needed.
    /// - Throws: `username_taken`, `invitation_invalid`. Then the invitation stays as it was.
    package func register(
        user: UserID, username: String, key: String, name: String, words: [String], passwordHash: String,
        session: NewSession, invitation: InvitationID? = nil
    ) async throws -> SignedIn {
        try await row(
            "account_register",
            [.id(user), .text(username), .text(key), .text(name), .texts(words), .text(passwordHash)]
                + session.parameters + [.uuid(orNull: invitation?.uuid)]
        ) { SignedIn(user: try $0.json(0), session: try $0.json(1)) }
    }

    /// Signs in the user of a token of the host app, with the token's profile. Creates the account at the first use, with
    /// the id `user`, and with the name `defaultName` if the token has none.
    package func delegate(
        _ externalID: ExternalID, user: UserID, name: DisplayName?, defaultName: String, picture: ImageURL?,
        session: NewSession
    ) async throws -> SignedIn {
        let words = name?.directoryWords(with: nil) ?? defaultName.words
        return try await row(
            "account_delegate",
            [
                .text(externalID.text), .id(user), .text(orNull: name?.text), .text(defaultName), .texts(words),
                .text(orNull: picture?.text),
            ] + session.parameters + [.int(session.accountCountMax)]
        ) { try $0.signedIn() }
    }

    package func account(_ user: UserID) async throws -> JSONText {
        try await reads.json("account_get", [.id(user)])
    }

    /// `changes` is an object of the members to change; `words` the directory's words for the new name, if it has one.
    package func updateAccount(_ user: UserID, changes: JSONText, words: [String]) async throws -> JSONText {
        try await json("account_update", [.id(user), .json(changes), .texts(words)])
    }
}
