// Incoming hooks: addresses at which other services post messages as a bot.
import Domain
import Postgres

/// The thread in which a hook posts, and the bot that posts.
package struct FoundHook: Sendable {
    package var id: HookID
    package var thread: ThreadID
    package var bot: UserID
    package var isSuspended: Bool
}

extension Store {
    /// Creates a hook, and its bot as a member of the thread. Throws `thread_not_found`, `direct_members_fixed`.
    package func createHook(
        _ hook: HookID, digest: [UInt8], in thread: ThreadID, bot: UserID, name: String, image: String?, limits: Limits,
        by actor: AdminActor
    ) async throws -> JSONText {
        try await json(
            "hook_create",
            actor.parameters + [
                .id(hook), .bytes(digest), .id(thread), .id(bot), .text(name), .text(orNull: image),
                .int(limits.groupMemberCountMax), .int(limits.roomMemberCountMax),
            ])
    }

    /// Returns the hook with this token digest; nil if there is none.
    package func findHook(digest: [UInt8]) async throws -> FoundHook? {
        try await log.firstRow("hook_find", [.bytes(digest)]) {
            FoundHook(
                id: HookID(try $0.uuid(0)), thread: ThreadID(try $0.uuid(1)), bot: UserID(try $0.uuid(2)),
                isSuspended: try $0.bool(3))
        }
    }

    /// Returns a page of all hooks, the newest first.
    package func hooks(_ request: PageRequest) async throws -> Page {
        try await reads.page("hook_list", [], request)
    }

    /// Revokes a hook; its bot leaves the thread. Throws `hook_not_found`.
    package func deleteHook(_ hook: HookID, by actor: AdminActor) async throws {
        try await call("hook_delete", actor.parameters + [.id(hook)])
    }
}
