// The caller's settings of a thread: muted, archived, pinned, what alerts, cleared, the app's data. Only the
// caller's devices see them.
import Domain
import Store

struct ThreadSettingsCalls: Sendable {
    let store: Store

    var routes: [Route] {
        [Route(.patch, "/v1/threads/{thread_id}/settings", .updateSettings, body: .small, .signedIn(updateSettings))]
    }

    private func updateSettings(_ call: Call, _ identity: Identity) async throws -> Answer {
        let thread = try call.thread()
        let changes = try SettingsChanges(await call.body())
        return .json(
            try await store.updateSettings(
                of: thread, for: identity.user, changes: JSONText(.object(changes.members))))
    }
}

/// The changes of a PATCH. A field that is left out stays as it is. Null unmutes.
private struct SettingsChanges {
    /// The fields to change.
    var members: [JSONValue.Member] = []

    init(_ body: JSONValue) throws(Invalid) {
        var fields = try Fields(body)
        let mutedUntil = fields.given("muted_until") { json throws(Invalid) in try Timestamp?(json) }
        let archived = fields.given("archived") { json throws(Invalid) in try Bool(json) }
        let pinned = fields.given("pinned") { json throws(Invalid) in try Bool(json) }
        let notify = fields.given("notify") { json throws(Invalid) in try NotifyLevel(json) }
        let hiddenBefore = fields.given("hidden_before_seq") { json throws(Invalid) in try Seq(json) }
        let appData = AppData(&fields)
        try fields.end()
        if let mutedUntil { members.append(.init("muted_until", .string(orNull: mutedUntil?.description))) }
        if let archived { members.append(.init("archived", .bool(archived))) }
        if let pinned { members.append(.init("pinned", .bool(pinned))) }
        if let notify { members.append(.init("notify", .string(notify.rawValue))) }
        if let hiddenBefore { members.append(.init("hidden_before_seq", .integer(hiddenBefore.value))) }
        members += appData.members
    }
}
