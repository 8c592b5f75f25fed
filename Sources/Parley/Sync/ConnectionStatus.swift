// What the client knows about its connection, and what it shows without storing it: presence, typing, progress.
import Foundation

/// The connection to the server.
@nonexhaustive
public enum ConnectionStatus: Sendable, Equatable {
    /// Nobody is signed in. The problem says why the session ended, unless the user signed out.
    case signedOut(Problem?)
    /// The app asked the client to rest (`suspend`).
    case suspended
    /// The client has no answer of the server yet.
    case connecting
    /// The client loads what happened since it was last connected.
    case behind
    /// The client has everything and is notified of everything new.
    case live
    /// The server does not answer. The client tries again at this time.
    case offline(until: Date, reason: ParleyError)
}

extension ConnectionStatus {
    fileprivate var isOffline: Bool { if case .offline = self { true } else { false } }
}

/// A person's presence.
public struct PresenceState: Sendable, Hashable {
    /// Whether a device of the person polls, or did within the last 60 s.
    public var isOnline: Bool
    /// It is nil while the person is online.
    public var lastSeenAt: Date?

    /// Makes a value, for example for a preview.
    public init(isOnline: Bool, lastSeenAt: Date? = nil) {
        self.isOnline = isOnline
        self.lastSeenAt = lastSeenAt
    }
}

/// What is shown and not stored.
final class LiveState: Sendable {
    private struct State {
        var status = ConnectionStatus.connecting
        var presence: [String: PresenceState] = [:]
        /// The end of each notice, by thread, then by person.
        var typing: [String: [String: ContinuousClock.Instant]] = [:]
        /// Messages that are being uploaded or sent: how much of their files has arrived, 0 to 1.
        var progress: [String: Double] = [:]
        /// Open timelines: the thread, and the first seq of the window.
        var windows: [ObjectIdentifier: (thread: String, first: Seq)] = [:]
    }

    private let state = Locked(State())
    private let hub: ChangeHub

    init(_ hub: ChangeHub) { self.hub = hub }

    var status: ConnectionStatus { state.withLock { $0.status } }

    func setStatus(_ status: ConnectionStatus) {
        let before = state.withLock { state in
            defer { state.status = status }
            return state.status
        }
        guard before != status else { return }
        // The server is back: whatever waits to be tried again need not wait longer.
        hub.publish(Changes(status: true, retry: status == .live && before.isOffline))
    }

    // MARK: Presence

    var presence: [String: PresenceState] { state.withLock { $0.presence } }

    func setPresence(_ values: [String: PresenceState]) {
        guard !values.isEmpty else { return }
        state.withLock { $0.presence.merge(values) { $1 } }
        hub.publish(Changes(presence: Set(values.keys)))
    }

    /// Without a connection nobody's presence is known.
    func forgetPresence() {
        let known = state.withLock { state in
            defer { state.presence = [:] }
            return Set(state.presence.keys)
        }
        if !known.isEmpty { hub.publish(Changes(presence: known)) }
    }

    func setPresence(of users: [User]) {
        let known = users.compactMap { user in
            user.presence.map {
                (user.id.rawValue, PresenceState(isOnline: $0 == .online, lastSeenAt: user.lastSeenAt))
            }
        }
        setPresence(Dictionary(known) { $1 })
    }

    /// Reads presence from profiles wherever they are in an answer.
    func readPresence(_ users: [JSONValue]) {
        var found: [String: PresenceState] = [:]
        for user in users {
            guard let id = (user["user_id"] ?? user["id"])?.string, let word = user["presence"]?.string else {
                continue
            }
            found[id] = PresenceState(
                isOnline: word == "online", lastSeenAt: user["last_seen_at"]?.string.flatMap(Date.init(rfc3339:)))
        }
        setPresence(found)
    }

    // MARK: Typing

    static let typingTime = Duration.seconds(6)

    func setTyping(_ user: String, in thread: String, _ isTyping: Bool) {
        let hasChanged = state.withLock { state in
            let was = state.typing[thread]?[user]
            state.typing[thread, default: [:]][user] = isTyping ? .now + Self.typingTime : nil
            return (was != nil) != isTyping || isTyping
        }
        if hasChanged { hub.publish(Changes(typing: [thread])) }
    }

    /// Who types in a thread, and when the first of them stops.
    func typing(in thread: String) -> (users: [String], until: ContinuousClock.Instant?) {
        let now = ContinuousClock.now
        let active = state.withLock { ($0.typing[thread] ?? [:]).filter { $0.value > now } }
        return (active.keys.sorted(), active.values.min())
    }

    // MARK: Progress

    func progress(of message: MessageID) -> Double? { state.withLock { $0.progress[message.rawValue] } }

    func setProgress(_ value: Double?, of message: MessageID, in thread: ThreadID) {
        state.withLock { $0.progress[message.rawValue] = value }
        hub.publish(Changes(timelines: [thread.rawValue], outbox: true))
    }

    // MARK: Timelines

    /// Where the window of a timeline begins; nil when the timeline ends.
    func setWindow(_ first: Seq?, in thread: ThreadID, of timeline: ObjectIdentifier) {
        state.withLock { $0.windows[timeline] = first.map { (thread.rawValue, $0) } }
    }

    /// The first message of a thread that some timeline shows.
    func firstShown(in thread: String) -> Seq? {
        state.withLock { state in state.windows.values.filter { $0.thread == thread }.map(\.first).min() }
    }

    /// Forgets everything, for another account.
    func clear() {
        state.withLock { state in
            state.presence = [:]
            state.typing = [:]
            state.progress = [:]
        }
        hub.publish(Changes(all: true))
    }
}
