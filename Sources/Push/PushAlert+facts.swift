// The part of every platform's payload besides the text: ids and counts, for the app to act on.
import Domain

extension PushAlert {
    /// The thread. A device shows one alert for each thread: a newer one replaces it, and a silent one removes it.
    var thread: ThreadID {
        switch content {
        case .message(let message): message.thread
        case .badge(let thread, _): thread
        }
    }

    var isSilent: Bool {
        switch content {
        case .message: false
        case .badge: true
        }
    }

    /// Ids reveal nothing to others, so they are sent whatever the privacy.
    var facts: [JSONValue.Member] {
        switch content {
        case .message(let message):
            [
                .init("event", .string("message")), .init("thread_id", .string(message.thread.description)),
                .init("message_id", .string(message.message.description)), .init("seq", .integer(message.seq.value)),
            ]
        case .badge(let thread, let readUpTo):
            [
                .init("event", .string("read")), .init("thread_id", .string(thread.description)),
                .init("read_up_to", .integer(readUpTo.value)),
            ]
        }
    }

    /// Returns how long a service may keep the alert, in seconds.
    ///
    /// - Parameter now: seconds since 1970.
    func timeToLive(now: Int) -> Int { max(0, expiresAt - now) }
}
