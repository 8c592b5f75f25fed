// Requests a service account's token for FCM (RFC 7523), in exchange for an assertion signed with its key.
import Cryptography
import Domain
import Outbound

/// The contents of a service account's file.
struct ServiceAccount: Sendable {
    let project: String
    let email: String
    let keyID: String?
    let key: RSA.PrivateKey
    let tokenURL: String

    init(_ file: [UInt8]) throws(PushKeyUnreadable) {
        guard let json = try? JSONReader.read(file) else { throw PushKeyUnreadable(description: "is not JSON") }
        func part(_ name: String) throws(PushKeyUnreadable) -> String {
            guard let text = json[name]?.string, !text.isEmpty else {
                throw PushKeyUnreadable(description: "lacks \(name)")
            }
            return text
        }
        project = try part("project_id")
        // The id becomes part of a path.
        guard project.utf8.allSatisfy({ $0.isAlphanumeric || "-.:_".utf8.contains($0) }) else {
            throw PushKeyUnreadable(description: "has an invalid project_id")
        }
        email = try part("client_email")
        keyID = json["private_key_id"]?.string
        tokenURL = try part("token_uri")
        guard let key = RSA.PrivateKey(pem: try part("private_key").trimmed) else {
            throw PushKeyUnreadable(description: "has no private RSA key of 2,048 to 8,192 bits in its private_key")
        }
        self.key = key
    }
}

/// The result of a request for a token.
package enum ProviderTokenVerdict: Sendable, Equatable {
    case token(ProviderToken)
    /// Retry after this time, or after a back-off where the server named no time.
    case retry(after: Duration?, reason: String)
    /// The account is refused.
    case halt(reason: String)
}

extension FCM {
    private static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// Google's maximum.
    private static let assertionLifeS = 3_600
    /// How long before its expiry a token is replaced: alerts under way must still be accepted with it.
    private static let marginS = 600
    /// The longest life of a token, whatever the answer says.
    private static let lifeSMax = 86_400

    /// Returns the request for a token. Signing costs 0.4 ms (RSA).
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: what libcrypto reports.
    package func tokenRequest(now: Int) throws -> HTTPExchange {
        let assertion = try SignedToken.rs256(
            account.key, header: account.keyID.map { [.init("kid", .string($0))] } ?? [],
            claims: [
                .init("iss", .string(account.email)), .init("scope", .string(Self.scope)),
                .init("aud", .string(account.tokenURL)), .init("iat", .integer(now)),
                .init("exp", .integer(now + Self.assertionLifeS)),
            ])
        let form = "grant_type=\(Self.grantType.replacing(":", with: "%3A"))&assertion=\(assertion)"
        return HTTPExchange(
            url: account.tokenURL, headers: [("content-type", "application/x-www-form-urlencoded")],
            body: Array(form.utf8), reach: .anywhere)
    }

    /// Returns what the answer to `tokenRequest` means.
    package func tokenVerdict(_ result: Result<TransferAnswer, TransferFailure>, now: Int) -> ProviderTokenVerdict {
        let answer: TransferAnswer
        switch result {
        case .success(let success): answer = success
        case .failure: return .retry(after: nil, reason: "token_connection")
        }
        switch answer.status {
        case 200:
            guard let json = try? JSONReader.read(answer.body), let text = json["access_token"]?.string,
                let life = json["expires_in"]?.integer, life > 0, Self.isHeaderText(text)
            else { return .retry(after: nil, reason: "token_unreadable") }
            let lifeS = min(Int(life), Self.lifeSMax)
            return .token(ProviderToken(text: text, renewAt: now + lifeS - min(Self.marginS, lifeS / 2)))
        case 408, 429, 500...599: return .retry(after: answer.retryAfter(now: now), reason: "token_unavailable")
        default: return .halt(reason: "token_refused")
        }
    }

    /// Whether all characters are allowed in a header.
    private static func isHeaderText(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}
