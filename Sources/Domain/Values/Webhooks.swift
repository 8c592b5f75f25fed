// Values of webhooks that several layers need.
import Basics

/// The secret with which an endpoint verifies the signatures of Standard Webhooks. Never logged.
package struct WebhookSecret: Sendable, Equatable {
    package static let byteCount = 32
    private static let prefix = "whsec_"

    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// As the operator sees it, once: Base64 with padding, as the libraries of Standard Webhooks read it.
    package var text: String { Self.prefix + Self.padded(bytes) }

    /// Base64 with padding.
    package static func padded(_ bytes: [UInt8]) -> String {
        let text = Base64.standard.encode(bytes)
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}

// Only `text` shows the secret.
extension WebhookSecret: CustomStringConvertible, CustomReflectable {
    package var description: String { "WebhookSecret(redacted)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Limits of webhooks. The service has few of them, and each costs a node a connection pool and memory.
package enum WebhookLimits {
    /// Endpoints of an installation.
    package static let countMax = 100
    /// How long the secret before a rotation also signs.
    package static let bothSecretsSeconds = 24 * 3_600
    /// The waits between tries: the schedule of Standard Webhooks, three days in all.
    package static let retrySeconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
    package static let retryCountMax = 30
    package static let retrySecondsMax = 7 * 86_400
}
