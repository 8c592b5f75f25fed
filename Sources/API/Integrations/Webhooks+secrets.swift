// What webhooks and commands have in common: a URL of the operator's, and a secret that is shown once.
import Cryptography
import Domain

extension EndpointURL {
    /// Reads the URL of an endpoint from a field.
    static func text(allowsPrivate: Bool) -> @Sendable (JSONValue) throws(Invalid) -> String {
        { json throws(Invalid) in try EndpointURL(json, allowsPrivate: allowsPrivate).text }
    }
}

extension Call {
    /// Makes a new secret for `store` and shows it. The call needs no body.
    func rotate(_ store: ([UInt8]) async throws -> JSONText) async throws -> Answer {
        try await noFields()
        let secret = WebhookSecret.random()
        return .json(try await store(secret.bytes).adding("secret", secret.text))
    }
}

extension WebhookSecret {
    static func random() -> WebhookSecret { WebhookSecret(bytes: RandomBytes.make(count: byteCount)) }
}
