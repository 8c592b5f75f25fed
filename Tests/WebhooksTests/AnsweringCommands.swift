// The request to a command's address, the meaning of its answer, and the id of the reply.
import Domain
import Foundation
import Outbound
import Testing
import Webhooks

@Suite("Answering commands", .timeLimit(.minutes(1)))
struct AnsweringCommands {
    private let thread = ThreadID.make()

    private func exchange() throws -> (HTTPExchange, Transfer) {
        let request = CommandRequest(
            event: "evt_0_7_42", at: Timestamp(microsSince1970: 1_700_000_000_123_000), word: "/deploy",
            arguments: "a \"b\"", thread: thread, content: JSONText(utf8: Array(#"{"id":"m"}"#.utf8)),
            sender: JSONText(utf8: Array(#"{"id":"u"}"#.utf8)))
        let transfer = request.transfer(
            to: "https://a.example/x", secrets: [WebhookSecret(bytes: [1]), WebhookSecret(bytes: [2])],
            limits: Limits(), now: 12)
        guard case .http(let exchange) = transfer.work else { throw CancellationError() }
        return (exchange, transfer)
    }

    private func verdict(_ status: Int, _ body: String = "") -> String {
        show(CommandVerdict(.success(TransferAnswer(status: status, body: Array(body.utf8))), limits: Limits()))
    }

    private func show(_ verdict: CommandVerdict) -> String {
        switch verdict {
        case .answered(let payload): payload.map { String(decoding: $0.utf8, as: UTF8.self) } ?? "nothing"
        case .gone: "gone"
        case .failed(let failure): failure.text(of: "/x")
        case .unsent: "unsent"
        }
    }

    @Test("sends command, text, thread, message and sender, signed by each secret, and reads the answer")
    func request() throws {
        let (exchange, transfer) = try exchange()
        #expect(
            String(decoding: exchange.body, as: UTF8.self)
                == #"{"type":"command","timestamp":"2023-11-14T22:13:20.123Z","data":{"command":"/deploy","#
                + #""text":"a \"b\"","thread_id":"\#(thread)","message":{"id":"m"},"sender":{"id":"u"}}}"#)
        let headers = Dictionary(uniqueKeysWithValues: exchange.headers.map { ($0.name, $0.value) })
        #expect(headers["webhook-id"] == "evt_0_7_42" && headers["webhook-timestamp"] == "12")
        #expect(headers["webhook-signature"]?.split(separator: " ").count == 2)
        #expect(!exchange.needsStatusOnly && transfer.timeMax == .seconds(15))
        #expect(exchange.answerByteCountMax > 6 * Limits().payloadByteCountMax)
        if case .publicOnly = exchange.reach {} else { Issue.record("the address is not checked") }
    }

    @Test("treats 2xx as an answer, 410 as the end, and all else as a failure with a reason")
    func verdicts() {
        #expect(verdict(200, #"{"text":"hi"}"#) == #"{"text":"hi"}"#)
        #expect(verdict(202, "{}") == "nothing" && verdict(204) == "nothing" && verdict(410) == "gone")
        #expect(verdict(500) == "The command /x failed: its server answered with status 500.")
        #expect(verdict(302) == "The command /x failed: its server answered with status 302.")
        #expect(verdict(200, "ok") == "The command /x failed: its server sent an invalid answer.")
        let long = #"{"text":"\#(String(repeating: "x", count: 16 * 1024 + 1))"}"#
        #expect(verdict(200, long) == "The command /x failed: the answer of its server is too long.")
        for (failure, text) in [
            (TransferFailure.timedOut, "The command /x failed: its server did not answer within 15 s."),
            (.forbidden(reason: "10.0.0.1"), "The command /x failed: the address of its server is not allowed."),
            (.failed(reason: "x"), "The command /x failed: the connection to its server failed."),
            (.closed, "unsent"), (.overloaded, "unsent"),
        ] {
            #expect(show(CommandVerdict(.failure(failure), limits: Limits())) == text)
        }
    }

    @Test("replies under a UUID of version 5, derived from the command's and the message's id")
    func replyIDs() throws {
        // By Python's hashlib and uuid.
        let command = try #require(CommandID(parsing: "6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
        let message = try #require(MessageID(parsing: "018f3c2a-1234-7abc-8def-0123456789ab"))
        #expect(MessageID(replyTo: message, of: command).description == "078201c9-691c-5d3e-bb0e-459e90795de9")
        #expect(MessageID(replyTo: .make(), of: command) != MessageID(replyTo: .make(), of: command))
    }
}
