// The users and threads that the paths of admin calls name: by id, or by `ext:` and the host app's own id.
import Domain
import Store

extension Store {
    /// The user of the path. Throws `user_not_found` for an external id that nobody has.
    func user(of call: Call) async throws -> UserID {
        let reference: UserReference = try call.reference("user_id", orElse: .userNotFound)
        guard let user = try await id(of: reference) else { throw Problem.userNotFound }
        return user
    }

    /// The thread of the path. Throws `thread_not_found` for an external id that none has.
    func thread(of call: Call) async throws -> ThreadID {
        let reference: ThreadReference = try call.reference("thread_id", orElse: .noSuchThread)
        guard let thread = try await id(of: reference) else { throw Problem.noSuchThread }
        return thread
    }
}

extension Call {
    /// The reference in a segment of the path, which is percent-decoded once.
    func reference<Kind>(
        _ name: String, _: Reference<Kind>.Type = Reference<Kind>.self, orElse problem: Problem
    ) throws(Problem) -> Reference<Kind> {
        guard let segment = parameters[name], let text = percentDecoded(segment.utf8, plusIsSpace: false),
            let reference = try? Reference<Kind>(text: text)
        else { throw problem }
        return reference
    }
}

extension Problem {
    static let noSuchThread = Problem(.threadNotFound, "There is no such thread.")
}
