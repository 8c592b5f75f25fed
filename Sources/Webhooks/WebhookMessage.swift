// A request to an endpoint, as Standard Webhooks has it.
import Domain
import Outbound

/// One event for one endpoint.
package struct WebhookMessage: Sendable {
    /// How long an endpoint has to answer.
    package static let timeMax = Duration.seconds(15)
    /// Nobody reads the answer's body.
    private static let answerByteCountMax = 64 << 10

    package let id: String
    package let body: [UInt8]

    package init(id: String, body: [UInt8]) {
        self.id = id
        self.body = body
    }

    /// - Parameters:
    ///   - at: when the event happened.
    ///   - isThin: whether `data` has ids only.
    package init(
        id: String, type: String, at: Timestamp, thread: ThreadID?, actor: UserID?, data: JSONText, isThin: Bool
    ) {
        var writer = JSONWriter(reserving: data.utf8.count + 256)
        writer.raw(#"{"type":"#)
        writer.write(type)
        writer.raw(#","timestamp":"#)
        writer.write(at.description)
        if let thread {
            writer.raw(#","thread_id":"#)
            writer.write(thread.description)
        }
        if let actor {
            writer.raw(#","actor":"#)
            writer.write(actor.description)
        }
        writer.raw(#","data":"#)
        if isThin { writer.write(Self.ids(of: data)) } else { writer.raw(data) }
        writer.raw("}")
        self.init(id: id, body: writer.utf8)
    }

    /// The members of `data` that are ids, and a message's `seq`.
    private static func ids(of data: JSONText) -> JSONValue {
        guard let members = (try? JSONReader.read(data.utf8))?.object else { return .object([]) }
        return .object(members.filter { $0.key == "id" || $0.key == "seq" || $0.key.hasSuffix("_id") })
    }

    /// Returns the request, signed now. Its address is checked when it is connected to.
    ///
    /// - Parameter now: seconds since 1970.
    package func transfer(to url: String, secrets: [WebhookSecret], now: Int) -> Transfer {
        var exchange = HTTPExchange(
            url: url,
            headers: [
                ("content-type", "application/json"), ("user-agent", "Parley"), ("webhook-id", id),
                ("webhook-timestamp", "\(now)"),
                (
                    "webhook-signature",
                    WebhookSignature.header(id: id, timestamp: now, body: body, secrets: secrets)
                ),
            ],
            body: body, reach: .publicOnly)
        exchange.answerByteCountMax = Self.answerByteCountMax
        // An accepted event must not be sent again because the end of the answer is missing.
        exchange.needsStatusOnly = true
        var transfer = Transfer(.http(exchange))
        transfer.timeMax = Self.timeMax
        return transfer
    }
}
