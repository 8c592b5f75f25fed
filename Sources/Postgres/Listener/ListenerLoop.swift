// The listener's thread: carries out what `ListenerState` decides.

import CLibpq
import Glibc
import Linux
import Logging
import Telemetry

struct ListenerLoop {
    private let settings: PostgresSettings
    private let channel: String
    private let probeChannel: String
    private let logger: Logger
    /// A server that is down fails each try, about once a second.
    private let log: RateLimitedLog
    private let timing: ListenerState.Timing
    private let stop: Waker
    private let onEvent: @Sendable (PostgresListener.Event) -> Void
    private var state: ListenerState
    private var connection: BlockingConnection?
    /// Whether LISTEN has succeeded for the channel itself. The probes' channel is first.
    private var isListening = false
    /// Whether a try has failed since the last one that succeeded. A normal start logs nothing.
    private var hasFailed = false

    init(
        _ settings: PostgresSettings, channel: String, logger: Logger, timing: ListenerState.Timing, stop: Waker,
        onEvent: @escaping @Sendable (PostgresListener.Event) -> Void
    ) {
        self.settings = settings
        self.channel = channel
        self.logger = logger
        log = RateLimitedLog(logger)
        self.timing = timing
        self.stop = stop
        self.onEvent = onEvent
        // Each listener has its own, so that its probes wake no other listener.
        probeChannel = "probe_" + String(UInt64.random(in: 0...(.max)), radix: 36)
        state = ListenerState(timing: timing, now: .now)
    }

    /// Runs until stopped.
    mutating func run() {
        while !stop.isInterrupted {
            let action = state.next(now: .now, random: .random(in: 0..<1))
            do {
                try act(action)
            } catch .closed {
                break
            } catch {
                state.lost(Self.reason(error), now: .now, random: .random(in: 0..<1))
            }
        }
        connection = nil
    }

    private mutating func act(_ action: ListenerState.Action) throws(PostgresError) {
        switch action {
        case .connect: connection = try connect()
        case .listen:
            try listen()
            state.listening(now: .now)
        case .probe(let token): try probe(token)
        case .wait(let deadline): try read(until: deadline)
        case .close(let reason):
            connection = nil
            hasFailed = true
            if reason == ListenerState.swallowed {
                log.error("not listening for notifications", reason: reason)
            } else {
                log.warning("not listening for notifications", reason: reason)
            }
        case .emit(let event):
            if event == .connected {
                if hasFailed {
                    log.info("listening for notifications")
                } else {
                    logger.debug("listening for notifications")
                }
                hasFailed = false
            }
            onEvent(event)
        }
    }

    private func connect() throws(PostgresError) -> BlockingConnection {
        do throws(ConnectFailure) {
            return try Dial.connect(settings, logger: logger, stop: stop)
        } catch {
            throw error == .stopped ? .closed : .unavailable(error.reason)
        }
    }

    /// Listens on the probes' channel only. Behind a pooler in transaction mode, a LISTEN stays in a session that other
    /// clients use as well, and they would receive this node's notifications. The channel itself follows the first
    /// probe.
    private mutating func listen() throws(PostgresError) {
        isListening = false
        try listen(to: probeChannel)
    }

    private func listen(to channel: String) throws(PostgresError) {
        guard let connection else { throw .connectionLost(wasSent: false) }
        try connection.execute("listen \(Self.quoted(channel))", until: .now + timing.answerMax)
    }

    /// Behind a pooler the first probe is sent by another connection: in transaction mode a connection may receive its
    /// own notifications and no others. After that probe arrives, the session is known to be this connection's own.
    /// Later probes only check that it is alive.
    private mutating func probe(_ token: String) throws(PostgresError) {
        guard let connection else { throw .connectionLost(wasSent: false) }
        let sender = connection.handle.isPooled && !isListening ? try connect() : connection
        let deadline = Instant.now + timing.answerMax
        try sender.execute(
            "select pg_notify($1::text, $2::text)", [.text(probeChannel), .text(token)], until: deadline)
        try takeNotifications()
    }

    private mutating func read(until deadline: Instant) throws(PostgresError) {
        guard let connection else {
            guard wait(for: stop.descriptor, CInt(POLLIN), stop: stop, until: deadline) != .stopped else {
                throw .closed
            }
            return
        }
        switch wait(for: connection.handle.socket, CInt(POLLIN), stop: stop, until: deadline) {
        case .timedOut: return
        case .stopped: throw .closed
        case .ready:
            let isOpen = connection.handle.consumeInput()
            try takeNotifications()
            guard isOpen else { throw .connectionLost(wasSent: true) }
        }
    }

    private mutating func takeNotifications() throws(PostgresError) {
        guard let connection else { return }
        while let notification = PQnotifies(connection.handle.pointer) {
            defer { PQfreemem(notification) }
            let payload = String(cString: notification.pointee.extra)
            if strcmp(notification.pointee.relname, channel) == 0 {
                if state.isWanted() { onEvent(.notification(payload: payload)) }
            } else if state.awaits(payload) {
                if !isListening {
                    try listen(to: channel)
                    isListening = true
                }
                state.answered(payload, now: .now)
            }
        }
    }

    private static func quoted(_ channel: String) -> String {
        "\"" + channel.replacing("\"", with: "\"\"") + "\""
    }

    private static func reason(_ error: PostgresError) -> String {
        switch error {
        case .unavailable(let reason): reason
        case .connectionLost: "the server closed the connection"
        case .waitTimedOut: ListenerState.silent
        default: error.description
        }
    }
}
