// The settings of alerts that registration depends on.
import Domain

/// The settings of alerts, as registration needs them.
package struct PushRegistration: Sendable {
    /// The public key that browsers bind their subscriptions to: an uncompressed point in base64url.
    let webPushKey: String
    let rules: PushTargetRules

    package init(webPushKey: String, rules: PushTargetRules) {
        self.webPushKey = webPushKey
        self.rules = rules
    }
}
