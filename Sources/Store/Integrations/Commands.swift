// Commands, as administrators set them and members see them. Commands+runs.swift has what answering needs.
import Domain
import Postgres

/// A command to be made.
package struct NewCommand: Sendable {
    package var id: CommandID
    package var bot: UserID
    package var word: CommandWord
    package var url: String
    package var description: String?
    package var name: String
    package var image: String?
    /// Nil for all threads.
    package var thread: ThreadID?
    package var secret: [UInt8]

    package init(
        id: CommandID = .make(), bot: UserID = .make(), word: CommandWord, url: String, description: String? = nil,
        name: String? = nil, image: String? = nil, thread: ThreadID? = nil, secret: [UInt8]
    ) {
        self.id = id
        self.bot = bot
        self.word = word
        self.url = url
        self.description = description
        self.name = name ?? word.name
        self.image = image
        self.thread = thread
        self.secret = secret
    }
}

/// A change of a command. Nil leaves a value as it is.
package struct CommandChange: Sendable {
    package var url: String?
    /// `.some(nil)` clears it.
    package var description: String??
    package var isEnabled: Bool?

    package init(url: String? = nil, description: String?? = nil, isEnabled: Bool? = nil) {
        self.url = url
        self.description = description
        self.isEnabled = isEnabled
    }
}

extension Store {
    /// Makes a command and its bot. Messages from now on run it. Throws `thread_not_found`, `word_taken`,
    /// `too_many_commands`.
    package func createCommand(_ new: NewCommand, countMax: Int, by actor: AdminActor) async throws -> JSONText {
        try await json(
            "command_create",
            actor.parameters + [
                .id(new.id), .id(new.bot), .text(new.word.text), .text(new.url), .text(orNull: new.description),
                .text(new.name), .text(orNull: new.image), .uuid(orNull: new.thread?.uuid), .bytes(new.secret),
                .int(countMax),
            ])
    }

    /// Throws `command_not_found`, as all calls that name a command.
    package func command(_ id: CommandID) async throws -> JSONText {
        try await reads.json("command_get", [.id(id)])
    }

    /// Returns a page of all commands, the newest first.
    package func commands(_ request: PageRequest) async throws -> Page {
        try await reads.page("command_list", [], request)
    }

    /// Returns the words that a member may use in a thread, as a JSON array. Throws `thread_not_found`, `not_joined`.
    package func commands(in thread: ThreadID, for user: UserID) async throws -> JSONText {
        try await reads.json("command_offer", [.id(user), .id(thread)])
    }

    package func updateCommand(_ id: CommandID, _ change: CommandChange, by actor: AdminActor) async throws -> JSONText
    {
        try await json(
            "command_update",
            actor.parameters + [
                .id(id), .text(orNull: change.url), .bool(change.description != nil),
                .text(orNull: change.description ?? nil), .bool(orNull: change.isEnabled),
            ])
    }

    /// Deletes a command with what waits for it. Its bot's messages stay.
    package func deleteCommand(_ id: CommandID, by actor: AdminActor) async throws {
        try await call("command_delete", actor.parameters + [.id(id)])
    }

    /// Gives a command a new secret. The present one also signs for `bothSeconds`.
    package func rotateCommand(
        _ id: CommandID, secret: [UInt8], bothSeconds: Int, by actor: AdminActor
    ) async throws -> JSONText {
        try await json("command_rotate", actor.parameters + [.id(id), .bytes(secret), .int(bothSeconds)])
    }
}
