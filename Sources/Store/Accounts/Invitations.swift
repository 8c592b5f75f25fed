// Invitations to register: administrators make them, and creating an account uses one.
import Domain
import Postgres

extension Store {
    /// Creates an invitation, whose code has this digest. Returns it without the code.
    package func createInvitation(
        _ invitation: InvitationID, digest: [UInt8], _ new: NewInvitation, by actor: AdminActor
    ) async throws -> JSONText {
        try await json(
            "invitation_create",
            actor.parameters + [
                .id(invitation), .bytes(digest), .int(new.useCount),
                new.expiresAt.map { .timestamp(microsSince1970: $0.microsSince1970) } ?? .null,
            ])
    }

    /// Returns a page of all invitations, the newest first.
    package func invitations(_ request: PageRequest) async throws -> Page {
        try await reads.page("invitation_list", [], request)
    }

    /// Withdraws an invitation. Throws `invitation_not_found`.
    package func deleteInvitation(_ invitation: InvitationID, by actor: AdminActor) async throws {
        try await call("invitation_delete", actor.parameters + [.id(invitation)])
    }

    /// Returns the invitation whose code has this digest; nil if it cannot be used.
    package func findInvitation(digest: [UInt8]) async throws -> InvitationID? {
        try await value("invitation_find", [.bytes(digest)]) { try $0.uuidOrNull(0).map { InvitationID($0) } }
    }

    /// Deletes invitations that expired or were used up 30 days ago, at most `limit`. Returns how many.
    package func sweepInvitations(limit: Int) async throws -> Int {
        try await value("invitation_sweep", [.int(limit)]) { Int(try $0.int4(0)) }
    }
}
