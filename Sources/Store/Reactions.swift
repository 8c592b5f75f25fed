// Reactions to messages.
import Domain
import Postgres

extension Store {
    /// Does nothing when it is there already.
    package func putReaction(
        _ emoji: Emoji, to message: MessageID, in thread: ThreadID, by user: UserID
    ) async throws {
        _ = try await rows(
            Statement("reaction_put", "select reaction_put($1, $2, $3, $4, $5)"),
            [
                .id(user), .id(thread), .id(message), .text(emoji.text), .int4(Int32(Emoji.countMaxPerMessage)),
            ])
    }

    /// Does nothing when it isn't there.
    package func deleteReaction(
        _ emoji: Emoji, to message: MessageID, in thread: ThreadID, by user: UserID
    ) async throws {
        _ = try await rows(
            Statement("reaction_delete", "select reaction_delete($1, $2, $3, $4)"),
            [.id(user), .id(thread), .id(message), .text(emoji.text)])
    }
}
