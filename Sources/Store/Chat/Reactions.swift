// Reactions to messages.
import Domain
import Postgres

extension Store {
    /// Adds a reaction; adding it again changes nothing. Returns how many members the thread has.
    @discardableResult
    package func putReaction(
        _ emoji: Emoji, to message: MessageID, in thread: ThreadID, by user: UserID
    ) async throws -> Int {
        try await row(
            ValueFunction(name: "reaction_put", with: Self.memberCount),
            [
                .id(user), .id(thread), .id(message), .text(emoji.text), .int(Emoji.countMaxPerMessage),
            ]
        ) { Int(try $0.int4(1)) }
    }

    /// Removes a reaction, if it is there. Returns how many members the thread has.
    @discardableResult
    package func deleteReaction(
        _ emoji: Emoji, to message: MessageID, in thread: ThreadID, by user: UserID
    ) async throws -> Int {
        try await row(
            ValueFunction(name: "reaction_delete", with: Self.memberCount),
            [.id(user), .id(thread), .id(message), .text(emoji.text)]
        ) { Int(try $0.int4(1)) }
    }

    /// Returns the people who reacted to a message with an emoji, the latest first.
    package func reactions(
        with emoji: Emoji, to message: MessageID, in thread: ThreadID, for user: UserID, _ request: PageRequest
    ) async throws -> Page {
        try await reads.page(
            "reaction_list", [.id(user), .id(thread), .id(message), .text(emoji.text)], request)
    }
}
