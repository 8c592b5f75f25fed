// The request to a command's address, as Standard Webhooks has it, and the id of the reply.
import Cryptography
import Domain
import FoundationEssentials
import Outbound

/// One message that runs a command.
package struct CommandRequest: Sendable {
    /// The largest body of an answer: a valid payload in which every byte is escaped takes six times its size.
    package static func answerByteCountMax(_ limits: Limits) -> Int { 6 * limits.payloadByteCountMax + 1_024 }

    package let message: WebhookMessage

    /// - Parameters:
    ///   - event: the id of the message's event, the same for every try.
    ///   - arguments: the message's text without the word.
    ///   - content: the message as everyone sees it.
    ///   - sender: who wrote it, with the host app's id.
    package init(
        event: String, at: Timestamp, word: String, arguments: String, thread: ThreadID, content: JSONText,
        sender: JSONText
    ) {
        var writer = JSONWriter(reserving: content.utf8.count + sender.utf8.count + arguments.utf8.count + 256)
        writer.raw(#"{"type":"command","timestamp":"#)
        writer.write(at.description)
        writer.raw(#","data":{"command":"#)
        writer.write(word)
        writer.raw(#","text":"#)
        writer.write(arguments)
        writer.raw(#","thread_id":"#)
        writer.write(thread.description)
        writer.raw(#","message":"#)
        writer.raw(content)
        writer.raw(#","sender":"#)
        writer.raw(sender)
        writer.raw("}}")
        message = WebhookMessage(id: event, body: writer.utf8)
    }

    /// Returns the request, signed now. The whole answer is read.
    ///
    /// - Parameter now: seconds since 1970.
    package func transfer(to url: String, secrets: [WebhookSecret], limits: Limits, now: Int) -> Transfer {
        var transfer = message.transfer(to: url, secrets: secrets, now: now)
        if case .http(var exchange) = transfer.work {
            exchange.answerByteCountMax = Self.answerByteCountMax(limits)
            exchange.needsStatusOnly = false
            transfer.work = .http(exchange)
        }
        transfer.timeMax = CommandLimits.answerTimeMax
        return transfer
    }
}

extension MessageID {
    /// The id of the reply to a message: a UUID of version 5 (RFC 9562) with the command's id as its name space. Each
    /// try, on any node, has the same one.
    package init(replyTo message: MessageID, of command: CommandID) {
        let names = [command.uuid, message.uuid].flatMap { uuid in withUnsafeBytes(of: uuid.uuid) { Array($0) } }
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) { $0.copyBytes(from: SHA1.digest(names).prefix(16)) }
        bytes.6 = bytes.6 & 0x0f | 0x50
        bytes.8 = bytes.8 & 0x3f | 0x80
        self.init(UUID(uuid: bytes))
    }
}
