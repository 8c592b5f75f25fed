// The consequences of what a command's address answers, or of no answer.
import Domain
import Outbound

/// Why a command could not be answered.
package enum CommandFailure: Sendable, Equatable {
    case status(Int)
    case timeout, address, connection
    /// The answer is not JSON, or has values of other types.
    case answer
    case tooLong
    /// The command is disabled, by its address (410) or by an administrator.
    case disabled
    /// Too many messages wait for the command.
    case busy

    /// A word for logs.
    package var reason: String {
        switch self {
        case .status(let status): "status \(status)"
        case .timeout: "timeout"
        case .address: "address"
        case .connection: "connection"
        case .answer: "invalid answer"
        case .tooLong: "oversized answer"
        case .disabled: "disabled"
        case .busy: "busy"
        }
    }

    /// The text of the bot's reply.
    package func text(of word: String) -> String { "The command \(word) failed: \(cause)." }

    /// The payload of the bot's reply.
    package func payload(of word: String) -> JSONText {
        JSONText(.object([.init("text", .string(text(of: word)))]))
    }

    private var cause: String {
        switch self {
        case .status(let status): "its server answered with status \(status)"
        case .timeout: "its server did not answer within \(CommandLimits.answerTimeMax.components.seconds) s"
        case .address: "the address of its server is not allowed"
        case .connection: "the connection to its server failed"
        case .answer: "its server sent an invalid answer"
        case .tooLong: "the answer of its server is too long"
        case .disabled: "it is disabled"
        case .busy: "too many messages wait for it"
        }
    }
}

/// What became of one request to a command's address.
package enum CommandVerdict: Sendable {
    /// 2xx, with the payload of the reply; nil for no reply.
    case answered(JSONText?)
    /// 410: the command is disabled.
    case gone
    /// Everything else, 3xx included: redirects are never followed.
    case failed(CommandFailure)
    /// This node did not send the request, because it stops or has too many. It does not count as a try.
    case unsent

    package init(_ result: Result<TransferAnswer, TransferFailure>, limits: Limits) {
        switch result {
        case .success(let answer):
            switch answer.status {
            case 200..<300: self.init(CommandAnswer(answer.body, limits: limits))
            case 410: self = .gone
            default: self = .failed(.status(answer.status))
            }
        case .failure(let failure):
            switch failure {
            case .closed, .overloaded: self = .unsent
            case .timedOut: self = .failed(.timeout)
            case .forbidden: self = .failed(.address)
            case .refused, .failed: self = .failed(.connection)
            }
        }
    }

    private init(_ answer: CommandAnswer) {
        switch answer {
        case .nothing: self = .answered(nil)
        case .reply(let payload): self = .answered(payload)
        case .invalid: self = .failed(.answer)
        case .tooLong: self = .failed(.tooLong)
        }
    }
}
