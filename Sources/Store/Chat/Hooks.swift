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
            Statement("hook_create", "select hook_create($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"),
            actor.parameters + [
                .id(hook), .bytes(digest), .id(thread), .id(bot), .text(name), .text(orNull: image),
                .int4(Int32(limits.groupMemberCountMax)), .int4(Int32(limits.roomMemberCountMax)),
            ])
    }

    /// Returns the hook with this token digest; nil if there is none.
    package func findHook(digest: [UInt8]) async throws -> FoundHook? {
        let rows = try await log.rows(Statement("hook_find", "select * from hook_find($1)"), [.bytes(digest)])
        return try await decoded {
            try rows.first.map {
                FoundHook(
                    id: HookID(try $0.uuid(0)), thread: ThreadID(try $0.uuid(1)), bot: UserID(try $0.uuid(2)),
                    isSuspended: try $0.bool(3))
            }
        }
    }

    /// Returns a page of all hooks, the newest first.
    package func hooks(_ request: PageRequest) async throws -> Page {
        try await reads.page(Statement("hook_list", "select * from hook_list($1, $2, $3)"), [], request)
    }

    /// Revokes a hook; its bot leaves the thread. Throws `hook_not_found`.
    package func deleteHook(_ hook: HookID, by actor: AdminActor) async throws {
        _ = try await rows(
            Statement("hook_delete", "select hook_delete($1, $2, $3)"), actor.parameters + [.id(hook)])
    }
}
