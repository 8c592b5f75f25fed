// The user's devices, and where alerts for this one go.

extension Call {
    /// The user's devices.
    public static var sessions: SessionCalls { SessionCalls() }
    /// Alerts to this device.
    public static var push: PushCalls { PushCalls() }
}

/// `Call.sessions`.
public struct SessionCalls: Sendable {
    /// The devices that are signed in, newest first. `GET /v1/sessions`
    public func list(limit: Int? = nil, page: String? = nil) -> Call<SessionPage> {
        Call("GET", "v1", "sessions", query: .page(limit, page))
    }

    /// Signs out a device. `DELETE /v1/sessions/{session_id}`
    public func end(_ id: SessionID) -> Call<Void> { Call("DELETE", "v1", "sessions", id.rawValue) }

    /// Signs out all other devices. Repeat the call after 503. `DELETE /v1/sessions`
    public func endOthers() -> Call<Void> { Call("DELETE", "v1", "sessions") }

    /// The cookie with which web views on the server's own origin show attachments: a `Set-Cookie` value.
    /// `POST /v1/sessions/current/media-cookie`
    public func mediaCookie() -> Call<String> {
        Call("POST", "v1", "sessions", "current", "media-cookie") { answer in
            guard let cookie = answer["set-cookie"] else { throw ParleyError.unreadableAnswer("no cookie") }
            return cookie
        }
    }
}

/// `Call.push`.
public struct PushCalls: Sendable {
    /// Registers this device for alerts, at each start of the app and whenever the token changes.
    /// `PUT /v1/sessions/current/push`
    public func register(_ target: PushTarget) -> Call<PushTarget> {
        Call("PUT", "v1", "sessions", "current", "push", body: target.json)
    }

    /// Removes this device's registration. `DELETE /v1/sessions/current/push`
    public func remove() -> Call<Void> { Call("DELETE", "v1", "sessions", "current", "push") }

    /// The key for subscriptions of browsers and of UnifiedPush. `GET /v1/push/webpush-key`
    public func webPushKey() -> Call<WebPushKey> { Call("GET", "v1", "push", "webpush-key") }
}
