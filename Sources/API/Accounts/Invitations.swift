// Invitations to register: the calls of administrators, and reading one from a registration.
import Basics
import Credentials
import Domain
import Store

struct InvitationCalls: Sendable {
    let store: Store

    var routes: [Route] {
        let all = "/v1/admin/invitations"
        return [
            Route(.post, all, .adminCreateInvitation, body: .small, .admin(.usersWrite, createInvitation)),
            Route(
                .get, all, .adminListInvitations, query: .read,
                .adminList(.usersWrite, "invitations", store.invitations)),
            Route(
                .delete, all + "/{invitation_id}", .adminDeleteInvitation,
                .adminDone(.usersWrite) {
                    try await store.deleteInvitation($0.id(of: "invitation", orElse: .invitationNotFound), by: $1)
                }),
        ]
    }

    private func createInvitation(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let new = try await call.fields(isOptional: true, Self.newInvitation)
        return .json(try await store.makeInvitation(new, by: actor), status: .created)
    }

    private static func newInvitation(_ fields: inout Fields<JSONValue>) throws -> NewInvitation {
        let useCount = fields.optional("uses") { json throws(Invalid) in
            guard let count = json.integer else { throw Invalid("Must be a whole number.") }
            return count
        }
        let expiresAt = fields.optional("expires_at", Timestamp.self)
        try fields.end()
        return try NewInvitation(useCount: useCount ?? 1, expiresAt: expiresAt, nowMicros: WallClock.micros)
    }
}

extension Store {
    /// Creates an invitation. Returns it with its code, which is shown only here.
    package func makeInvitation(_ new: NewInvitation, by actor: AdminActor) async throws -> JSONText {
        let code = InvitationCode.random()
        let invitation = try await createInvitation(.make(), digest: code.digest, new, by: actor)
        return invitation.adding("code", code.text)
    }
}

extension SignInCalls {
    /// The invitation that a registration uses. Nil where everyone may register: a given invitation stays unused.
    /// - Parameter code: as the person typed or pasted it.
    /// - Throws: `invitation_required`, `invitation_invalid`, before anything about the new account is looked up.
    func invitation(_ code: String?) async throws -> InvitationID? {
        guard registration == .invited else { return nil }
        guard let code else { throw Problem.invitationRequired }
        guard let parsed = InvitationCode(parsing: code.trimmed),
            let found = try await store.findInvitation(digest: parsed.digest)
        else { throw Problem.invitationInvalid }
        return found
    }
}

extension Problem {
    fileprivate static let invitationRequired = Problem(
        .invitationRequired, "This service lets people register by invitation only. Send `invitation`, its code.")
    fileprivate static let invitationInvalid = Problem(
        .invitationInvalid, "The invitation is unknown, used up or expired. Ask the operator for a new one.")
}
