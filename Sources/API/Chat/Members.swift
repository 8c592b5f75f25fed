// The members of a thread: adding, inviting, accepting, promoting, leaving, removing.
import Domain
import Store

struct MemberCalls: Sendable {
    let store: Store
    let rates: RateLimits
    let limits: Limits

    private static var path: String { "/v1/threads/{thread_id}/members" }

    var routes: [Route] {
        [
            Route(.get, Self.path, .listMembers, query: .read, .signedIn(listMembers)),
            Route(.put, Self.path + "/{user_id}", .putMember, body: .small, .signedIn(putMember)),
            Route(.delete, Self.path + "/{user_id}", .deleteMember, .signedIn(deleteMember)),
        ]
    }

    private func listMembers(_ call: Call, _ identity: Identity) async throws -> Answer {
        try await call.list("members") { try await store.members(of: call.thread(), for: identity.user, $0) }
    }

    private func putMember(_ call: Call, _ identity: Identity) async throws -> Answer {
        let thread = try call.thread()
        let user = try call.user(identity, orElse: .userNotFound)
        let (role, status) = try await call.fields(isOptional: true) { fields in
            let role = fields.optional("role", MemberRole.self)
            let status = fields.optional("status", WantedStatus.self)
            try fields.end()
            return (role, status?.status)
        }
        let (member, memberCount) = try await rates.counting {
            try await store.putMember(
                user, in: thread, by: identity.user, role: role, status: status, limits: limits,
                rules: AdmissionRules(for: identity.user, limits, rates))
        }
        rates.charge(reaching: memberCount, by: identity.user)
        return .json(member)
    }

    private func deleteMember(_ call: Call, _ identity: Identity) async throws -> Answer {
        let memberCount = try await store.deleteMember(
            call.user(identity, orElse: .memberNotFound), in: call.thread(), by: identity.user)
        rates.charge(reaching: memberCount, by: identity.user)
        return .noContent
    }
}

/// The two states that a PUT can set.
struct WantedStatus: TextField {
    let status: MemberStatus

    init(text: String) throws(Invalid) {
        switch MemberStatus(rawValue: text) {
        case .joined?: status = .joined
        case .invited?: status = .invited
        case .left?, .removed?: throw Invalid("Must be invited or joined. To leave or to remove a member, use DELETE.")
        case nil: throw Invalid("Must be one of: invited, joined.")
        }
    }
}
