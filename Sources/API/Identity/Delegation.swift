// Signing in by a token that the host app's own server signed. Keys, signatures and claims are DelegatedTokens' affair.
import DelegatedTokens
import Domain
import Foundation
import Store

/// By what the host app's tokens are checked.
package struct Delegation: Sendable {
    /// What an account is called whose first token brings no name. Not by its external id, which may be an address.
    static let nameOrElse = "Unnamed"

    let keys: KeyFile
    let expecting: DelegatedToken.Expectations

    package init(keys: KeyFile, expecting: DelegatedToken.Expectations) {
        self.keys = keys
        self.expecting = expecting
    }
}

extension API {
    func logIn(byToken text: String, session: NewSession) async throws -> SignedIn {
        guard let delegation else {
            throw Problem(.wrongCredentials, "This service does not accept tokens of a host app. Sign in another way.")
        }
        let given: DelegatedToken
        do {
            given = try DelegatedToken(
                text, keys: await delegation.keys.keys(), expecting: delegation.expecting,
                now: Date().timeIntervalSince1970)
        } catch {
            // Why, the log says to whoever sets this up; a client that makes up tokens needn't know how far it has come.
            logger.debug("refused a token of the host app", metadata: ["reason": "\(error.rawValue)"])
            throw Problem(
                .wrongCredentials, "The sign-in token is invalid or has expired. Get a new one from the host app.")
        }
        try await rates.signIn(byTokenOf: given.subject)
        return try await store.delegate(
            given.subject, user: .make(), name: given.name, nameOrElse: Delegation.nameOrElse, picture: given.picture,
            session: session)
    }
}
