// Commands that a server of the test answers.
import Foundation
import TestSupport
import Testing

/// What tests of commands need: a server, the operator's calls, and two people in a thread.
struct CommandStage: Sendable {
    static let token = "admin-of-the-commands"
    static let settings = ["PARLEY_ADMIN_TOKEN": token, "PARLEY_PUSH_ALLOW_PRIVATE": "true"]
    static let operatorPerson = Person(id: "", username: "", password: "", session: "", token: token)

    struct Command: Sendable {
        let id: String
        let bot: String
        let secret: String
    }

    let sink: WebhookSink
    let caller: any Caller
    let ann: Person
    let ben: Person

    init(_ sink: WebhookSink, at caller: any Caller) async throws {
        self.sink = sink
        self.caller = caller
        ann = try await caller.register("Ann")
        ben = try await caller.register("Ben")
    }

    func thread(_ kind: String = "group") async throws -> String {
        try await caller.thread(kind, by: ann, with: [ben])
    }

    /// Creates a command whose server is the path of its word, and answers with "echo" and the text. The server verifies
    /// every request.
    func command(_ word: String, _ more: [String: JSON] = [:]) async throws -> Command {
        let body = more.merging(["word": .string(word), "url": .string(sink.url(word))]) { $1 }
        let made = try await caller.post("/v1/admin/commands", .object(body), as: Self.operatorPerson)
        try #require(made.status == 201, "\(made)")
        let secret = try #require(made.json["secret"].string)
        try await sink.expect([secret], of: word)
        try await sink.echo(word)
        return Command(
            id: try #require(made.json["id"].string), bot: try #require(made.json["user_id"].string), secret: secret)
    }

    func get(_ command: Command) async throws -> JSON {
        let answer = try await caller.get("/v1/admin/commands/\(command.id)", as: Self.operatorPerson)
        try #require(answer.status == 200, "\(answer)")
        return answer.json
    }

    /// The replies to a message, in order.
    func replies(to message: String, in thread: String) async throws -> [JSON] {
        try await caller.history(of: thread, as: ann).filter { $0["reply_to"].string == message }
    }

    /// Waits for the reply to a message, and returns its text.
    func reply(to message: String, in thread: String, within limit: Duration = .seconds(30)) async throws -> JSON {
        try await eventually("a reply to \(message)", within: limit, every: .milliseconds(100)) {
            try await replies(to: message, in: thread).first
        }
    }

    /// Sends a message and waits for its reply. Returns the reply's text.
    func answer(to text: String, in thread: String, within limit: Duration = .seconds(30)) async throws -> String? {
        let message = try await caller.sent(text, in: thread, as: ann)
        return try await reply(to: message, in: thread, within: limit)["payload"]["text"].string
    }

    /// Waits until no message waits for the command.
    func settled(_ command: Command, within limit: Duration = .seconds(30)) async throws {
        try await eventually("no run of \(command.id)", within: limit, every: .milliseconds(200)) {
            try await get(command)["waiting_runs"] == 0
        }
    }
}
