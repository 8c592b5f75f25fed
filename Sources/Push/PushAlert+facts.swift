// What every platform's payload says beside the text: ids and counts, for the app to act on.
import Domain

extension PushAlert {
    /// Newer replaces older within it: one alert a thread on a device, and a silent one takes it away.
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

    /// Ids say nothing to who doesn't know them, so they are there whatever the privacy.
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

    /// For how long a service may keep it, in seconds.
    /// - now: seconds since 1970.
    func timeToLive(now: Int) -> Int { max(0, expiresAt - now) }
}
