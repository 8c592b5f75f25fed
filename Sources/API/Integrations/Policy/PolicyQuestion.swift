// The request to the operator's policy, and its answer.
import Domain

/// What the policy is asked about.
package struct PolicyQuestion: Sendable {
    let sender: JSONText
    let thread: JSONText
    let message: NewMessage
    let type: MessageType
    let isEdit: Bool

    /// `{sender, thread, message}`.
    var body: [UInt8] {
        var writer = JSONWriter(reserving: 1_024 + message.payload.utf8.count)
        writer.raw("{\"sender\":")
        writer.raw(sender)
        writer.raw(",\"thread\":")
        writer.raw(thread)
        writer.raw(",\"message\":{\"id\":")
        writer.write(message.id.description)
        writer.raw(",\"type\":")
        writer.write(message.type)
        writer.raw(",\"payload\":")
        writer.raw(message.payload)
        writer.raw(",\"reply_to\":")
        writer.write(.string(orNull: message.replyTo?.description))
        writer.raw(",\"mentions\":")
        writer.write(.array(message.mentions.map { .string($0.description) }))
        writer.raw(",\"edit\":")
        writer.write(.bool(isEdit))
        writer.raw("}}")
        return writer.utf8
    }

    /// Reads the policy's verdict. Never inlined: see `Call.fields`.
    @inline(never)
    func verdict(_ reply: PolicyReply, _ limits: Limits) -> Result<PolicyVerdict, PolicyFailure> {
        guard (200..<300).contains(reply.status) else { return .failure(.status) }
        do {
            let json = try JSONReader.read(reply.body.span, .init(valueCountMax: limits.jsonValueCountMax))
            return .success(
                try PolicyVerdict(json, about: type, attachments: message.attachments, limits: limits))
        } catch {
            return .failure(.malformed)
        }
    }
}

/// An answer of the policy, whatever its status.
package struct PolicyReply: Sendable {
    let status: Int
    let body: [UInt8]

    package init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}
