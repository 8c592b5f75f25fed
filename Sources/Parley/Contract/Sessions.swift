// Devices: each has a session of its own.
import Foundation

/// A device that is signed in.
public struct Session: Sendable, Hashable, Codable, Identifiable {
    /// The id of the session.
    public var id: SessionID
    /// The name under which the device signed in.
    public var deviceName: String?
    /// The time when the device signed in.
    public var createdAt: Date
    /// The time of the device's last call, accurate to about five minutes.
    public var lastUsedAt: Date
    /// The secret that proves the session. Only in the answer to signing in.
    public var token: String?

    enum CodingKeys: String, CodingKey {
        case id, token
        case deviceName = "device_name"
        case createdAt = "created_at"
        case lastUsedAt = "last_used_at"
    }
}

extension Session: CustomStringConvertible, CustomDebugStringConvertible {
    /// The text leaves the token out.
    public var description: String { "session \(id) of \(deviceName ?? "a device")" }
    public var debugDescription: String { description }
}

/// The answer to signing in.
public struct SignedIn: Sendable, Hashable, Codable {
    /// The account that is signed in.
    public var user: Account
    /// The session contains its token.
    public var session: Session
}
