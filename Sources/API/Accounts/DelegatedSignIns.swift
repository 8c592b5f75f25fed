// Signing in with a token that the host app's server signed.
import Basics
import DelegatedTokens
import Domain
import FoundationEssentials
import Store

extension SignInCalls {
    func logIn(byToken text: String, session: NewSession) async throws -> SignedIn {
        guard let delegation else {
            throw Problem(.wrongCredentials, "This service does not accept tokens of a host app. Sign in another way.")
        }
        let given: DelegatedToken
        do {
            given = try DelegatedToken(
                text, keys: delegation.keys.keys(), expecting: delegation.expecting, now: Double(WallClock.seconds))
        } catch {
            // The reason is only in the log. A client that forges tokens must not learn how far it got.
            services.logger.debug("refused a token of the host app", metadata: ["reason": "\(error.rawValue)"])
            throw Problem(
                .wrongCredentials, "The sign-in token is invalid or has expired. Get a new one from the host app.")
        }
        try await rates.signIn(byTokenOf: given.subject)
        return try await store.delegate(
            given.subject, user: .make(), name: given.name, defaultName: Delegation.defaultName, picture: given.picture,
            session: session)
    }
}
