// Alerts to devices without a poll: their targets and their contents. The database decides about them, the Push target
// writes them, the node sends them.

package enum PushPlatform: String, CaseIterable, Sendable { case apns, fcm, webpush }

/// How much of a message leaves the server: `preferences.push` of an account.
package enum PushPrivacy: String, CaseIterable, Sendable {
    case full
    /// The sender and the thread, without the content.
    case senderOnly = "sender_only"
    /// Only that there is something new.
    case none
}

/// Where a device receives its alerts, as it registered.
package enum PushTarget: Hashable, Sendable {
    package enum APNsEnvironment: String, CaseIterable, Sendable { case production, development }

    /// - token: the device's, in hexadecimal digits. topic: the app's bundle id; nil for the configured one.
    case apns(token: String, environment: APNsEnvironment, topic: String?)
    /// - token: the app installation's registration token.
    case fcm(token: String)
    /// - endpoint: an https URL that the client's push service made. key: the client's public key, an uncompressed
    ///   point on P-256 (65 bytes). secret: the secret that the client shares with Parley (16 bytes). RFC 8291, section
    ///   2.
    case webPush(endpoint: String, key: [UInt8], secret: [UInt8])

    package var platform: PushPlatform {
        switch self {
        case .apns: .apns
        case .fcm: .fcm
        case .webPush: .webpush
        }
    }
}

/// The content of an alert to one device at the time of sending.
package struct PushAlert: Sendable {
    package enum Content: Sendable {
        case message(PushMessage)
        /// Silent: the count has changed, and the device removes its alerts of the thread up to this seq.
        case badge(thread: ThreadID, readUpTo: Seq)
    }

    /// The same for every retry: `apns-id`.
    package var id: PushID
    package var target: PushTarget
    package var content: Content
    /// The account's `unread_total`.
    package var badge: Int
    /// Counted from 1.
    package var attempt: Int
    /// The time at which it expires, in seconds since 1970.
    package var expiresAt: Int
    /// When the target was registered, in milliseconds since 1970. An answer about an older token does not concern this
    /// one.
    package var registeredAtMs: Int

    package init(
        id: PushID, target: PushTarget, content: Content, badge: Int, attempt: Int, expiresAt: Int, registeredAtMs: Int
    ) {
        self.id = id
        self.target = target
        self.content = content
        self.badge = badge
        self.attempt = attempt
        self.expiresAt = expiresAt
        self.registeredAtMs = registeredAtMs
    }
}

/// The message that an alert is about.
package struct PushMessage: Sendable {
    package var thread: ThreadID
    package var message: MessageID
    package var seq: Seq
    /// The title of a group or room.
    package var title: String?
    package var senderName: String
    /// As in `type`. `encrypted` and `x-…` never show a text.
    package var type: String
    /// The text of a `message`; nil for other types.
    package var text: String?
    package var privacy: PushPrivacy

    package init(
        thread: ThreadID, message: MessageID, seq: Seq, title: String?, senderName: String,
        type: String, text: String?, privacy: PushPrivacy
    ) {
        self.thread = thread
        self.message = message
        self.seq = seq
        self.title = title
        self.senderName = senderName
        self.type = type
        self.text = text
        self.privacy = privacy
    }
}
