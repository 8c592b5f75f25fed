// Messages that run commands: which node answers them, and what became of them.
import Domain
import Postgres

/// A message that runs a command, and the number of the claim. What is recorded with an earlier number is refused.
package struct CommandRunKey: Hashable, Sendable {
    package var command: CommandID
    package var thread: ThreadID
    package var message: MessageID
    package var claim: Int32

    fileprivate var parameters: [Parameter] { [.id(command), .id(thread), .id(message), .int4(claim)] }
}

/// A claimed run with what its request needs.
package struct CommandRun: Sendable {
    /// Why there is to be no request.
    package enum Refusal: String, Sendable { case disabled, busy }

    package var key: CommandRunKey
    /// Tries that failed.
    package var tryCount: Int
    package var refusal: Refusal?
    package var event: String
    package var word: String
    package var target: WebhookTarget
    package var sentAt: Timestamp
    /// The message's text without the word.
    package var arguments: String
    /// The message as it was sent, and its sender.
    package var message: JSONText
    package var sender: JSONText
}

extension Store {
    // These calls run to their end even if their task is cancelled: nobody else knows of a claim, or of an answer.

    /// Finds new messages that run commands, and claims what is due.
    ///
    /// - Parameter limit: how many runs are claimed at most.
    package func stepCommands(
        limit: Int, runningMax: Int = CommandLimits.runningCountMax, waitingMax: Int = CommandLimits.waitingCountMax,
        leaseSeconds: Int = CommandLimits.leaseSeconds
    ) async throws -> [CommandRun] {
        try await finishing.rows(
            "command_step",
            [.int(limit), .int(runningMax), .int(waitingMax), .int(leaseSeconds)]
        ) { try CommandRun($0) }
    }

    /// Ends a run. A reply is posted in the same transaction. Returns whether the claim lasted; otherwise nothing was
    /// recorded.
    ///
    /// - Parameters:
    ///   - payload: the payload of the reply; nil for none.
    ///   - goneURL: the address that answered 410. The command is disabled, or, if it has another address by now, the run
    ///     is due again and nothing is posted.
    package func settleCommandRun(
        _ key: CommandRunKey, reply: MessageID, payload: JSONText?, goneURL: String? = nil
    ) async throws -> Bool {
        try await finishing.value(
            "command_settle",
            key.parameters + [
                .id(reply), payload.map(Parameter.json) ?? .null, .bool(goneURL != nil), .text(orNull: goneURL),
            ]
        ) { try $0.bool(0) }
    }

    /// Makes a run due again after a wait. Returns whether the claim lasted.
    ///
    /// - Parameter isTried: whether a try has failed; otherwise the node sent nothing.
    package func putOffCommandRun(_ key: CommandRunKey, waitMs: Int, isTried: Bool) async throws -> Bool {
        try await finishing.value("command_put_off", key.parameters + [.int(waitMs), .bool(isTried)]) {
            try $0.bool(0)
        }
    }
}

extension CommandRun {
    fileprivate init(_ row: Row) throws {
        key = CommandRunKey(
            command: CommandID(try row.uuid(0)), thread: ThreadID(try row.uuid(1)), message: MessageID(try row.uuid(2)),
            claim: try row.int4(3))
        tryCount = Int(try row.int4(4))
        refusal = try row.textOrNull(5).flatMap(Refusal.init)
        event = try row.text(6)
        word = try row.text(7)
        target = WebhookTarget(
            url: try row.text(8), secrets: [try row.bytes(9)] + (try row.bytesOrNull(10).map { [$0] } ?? []))
        sentAt = Timestamp(microsSince1970: try row.timestamp(11))
        arguments = try row.text(12)
        message = try row.json(13)
        sender = try row.json(14)
    }
}
