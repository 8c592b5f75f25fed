// The bytes of an event stream (HTML Living Standard, 9.2.5).
import Domain
import HTTPTypes
import Log
import NIOCore

enum EventStreamFormat {
    /// Proxies must not collect what they pass on (`X-Accel-Buffering`, nginx).
    static let headers: HTTPFields = {
        var headers = Headers.of(type: "text/event-stream")
        headers[.xAccelBuffering] = "no"
        return headers
    }()

    /// Clients pick the milliseconds after which they reconnect from this range. After a node has died they reconnect
    /// at different times.
    private static let retryMs = 1000...3000
    /// The same after a stream ended to make room for a newer one of its session or account.
    static let displacedRetryMs = 15_000...30_000

    /// The beginning of a stream: when to reconnect, the client's cursor, and its first events.
    static func opening(_ events: [Event], upTo: Cursor) -> ByteBuffer {
        var bytes = opening(events.isEmpty ? upTo : nil, retryMs: retryMs)
        if !events.isEmpty { bytes.writeEvents(events, upTo: upTo) }
        return bytes
    }

    /// The beginning of a stream, with the client's cursor if no event follows at once.
    static func opening(_ cursor: Cursor?) -> ByteBuffer { opening(cursor, retryMs: retryMs) }

    static func opening(_ cursor: Cursor?, retryMs: ClosedRange<Int>) -> ByteBuffer {
        var bytes = ByteBuffer(string: "retry: \(Int.random(in: retryMs))\n")
        if let cursor { bytes.writeString("id: \(cursor)\n") }
        bytes.writeStaticString("\n")
        return bytes
    }

    /// Events. Without any, the heartbeat: a comment with an id. It moves the cursor of a quiet client on, and the
    /// client sees no event.
    static func piece(_ events: [Event], upTo: Cursor) -> ByteBuffer {
        guard events.isEmpty else {
            var bytes = ByteBufferAllocator().buffer(capacity: events.reduce(64) { $0 + $1.body.count + 48 })
            bytes.writeEvents(events, upTo: upTo)
            return bytes
        }
        return ByteBuffer(string: ":\nid: \(upTo)\n\n")
    }
}

extension ByteBuffer {
    /// The id of each event is the cursor after it, so a client that received only some of them continues after those.
    fileprivate mutating func writeEvents(_ events: [Event], upTo: Cursor) {
        for (index, event) in events.enumerated() {
            let isLast = index == events.count - 1
            let cursor = isLast ? upTo : Cursor(epoch: upTo.epoch, position: event.position)
            writeString("id: \(cursor)\ndata: ")
            let start = writerIndex
            writeBytes(event.body)
            // A line break in JSON may be replaced by a space. Here it would end the field.
            if event.body.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
                for index in start..<writerIndex {
                    if let byte: UInt8 = getInteger(at: index), byte == 0x0A || byte == 0x0D {
                        setInteger(UInt8(ascii: " "), at: index)
                    }
                }
            }
            writeStaticString("\n\n")
        }
    }
}

extension HTTPField.Name {
    fileprivate static let xAccelBuffering = Self("X-Accel-Buffering")!
}
