// Signatures of Standard Webhooks (standardwebhooks.com), version 1: HMAC-SHA256 with a shared secret.
import Cryptography
import Domain

package enum WebhookSignature {
    /// Returns the value of `webhook-signature`: one signature for each secret, so that a consumer with either of them
    /// can verify.
    ///
    /// - Parameter timestamp: seconds since 1970.
    package static func header(id: String, timestamp: Int, body: [UInt8], secrets: [WebhookSecret]) -> String {
        let signed = Array("\(id).\(timestamp).".utf8) + body
        return secrets.map { secret in
            "v1," + WebhookSecret.padded(HMACSHA256(key: secret.bytes).code(of: signed))
        }.joined(separator: " ")
    }
}
