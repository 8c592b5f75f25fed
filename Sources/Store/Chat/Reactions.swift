// Reactions to messages.
import Domain
import Postgres

extension Store {
    /// Adds a reaction; adding it again changes nothing. Returns how many members the thread has.
    @discardableResult
    package func putReaction(
        _ emoji: Emoji, to message: MessageID, in thread: ThreadID, by user: UserID
    ) async throws -> Int {
        let row = try await row(
            Statement("reaction_put", "select reaction_put($1, $2, $3, $4, $5), \(Self.memberCount)"),
            [
                .id(user), .id(thread), .id(message), .text(emoji.text), .int4(Int32(Emoji.countMaxPerMessage)),
            ])
        return try await decoded { Int(try row.int4(1)) }
    }

    /// Removes a reaction, if it is there. Returns how many members the thread has.
    @discardableResult
    package func deleteReaction(
        _ emoji: Emoji, to message: MessageID, in thread: ThreadID, by user: UserID
    ) async throws -> Int {
        let row = try await row(
            Statement("reaction_delete", "select reaction_delete($1, $2, $3, $4), \(Self.memberCount)"),
            [.id(user), .id(thread), .id(message), .text(emoji.text)])
        return try await decoded { Int(try row.int4(1)) }
    }
}
