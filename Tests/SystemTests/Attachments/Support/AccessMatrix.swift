// Who may do what with an attachment, as a table: roles × states × calls, each with its expected status.

/// A caller's relation to the thread that has the attachment.
enum Role: String, CaseIterable {
    case nobody = "no token"
    case stranger, member, invited, removed, left
    case later = "joined later"
    /// A member whom the owner has blocked.
    case blocked
    case owner
    /// A member's other device, which has signed out.
    case ended = "ended session"

    var isSignedIn: Bool { self != .nobody && self != .ended }
}

/// What has happened to the attachment.
enum AttachmentStage: String, CaseIterable {
    case unused
    case used = "in a message"
    case deletedForEveryone = "deleted for everyone"
    /// By the member only.
    case deletedForMe = "deleted for me"
    case expired
    case dropped = "dropped by an edit"
    /// The owner's account is erased, and the messages stay.
    case ownerErased = "account erased"
    case messagesErased = "account and messages erased"
    case threadPicture = "thread picture"
    case profilePicture = "profile picture"

    /// The roles that may see the attachment.
    var seers: Set<Role> {
        let readers: Set<Role> = [.member, .later, .blocked, .owner]
        return switch self {
        case .unused: [.owner]
        case .used: readers
        case .deletedForMe: readers.subtracting([.member])
        case .ownerErased: readers.subtracting([.owner])
        case .deletedForEveryone, .expired, .dropped, .messagesErased: []
        // An invited person sees the thread in the inbox, with its picture.
        case .threadPicture: readers.union([.invited])
        case .profilePicture: Set(Role.allCases.filter(\.isSignedIn))
        }
    }

    /// Whether the bytes still exist and the owner can call. An edit leaves the bytes to the message's earlier version.
    var hasOwner: Bool { self == .dropped || !seers.isEmpty && self != .ownerErased }
    /// Roles whose session has ended.
    var ended: Set<Role> { self == .ownerErased || self == .messagesErased ? [.ended, .owner] : [.ended] }
}

enum AttachmentCall: String, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case thumbnail, info, link
    case getByLink = "GET by link"
    case getByCookie = "GET by cookie"
    case headByCookie = "HEAD by cookie"
    case forward, received
    case progress = "HEAD upload"
    case append = "PATCH upload"
    case giveUp = "DELETE"

    /// The status that a role must get.
    func expected(_ role: Role, _ stage: AttachmentStage) -> Int {
        let isDead = stage.ended.contains(role)
        switch self {
        // A wrong or dead link or cookie reveals nothing, no matter who uses it.
        case .getByLink: return stage.seers.contains(role) && !isDead ? 200 : 404
        case .getByCookie where isDead, .headByCookie where isDead: return 404
        case _ where role == .nobody || isDead: return 401
        case .get, .head, .thumbnail, .info, .link, .getByCookie, .headByCookie:
            return stage.seers.contains(role) ? 200 : 404
        // The owner may send a file as long as it exists.
        case .forward: return stage.seers.contains(role) || role == .owner && stage.hasOwner ? 201 : 422
        case .received: return stage.seers.contains(role) ? 204 : 404
        case .progress: return role == .owner && stage.hasOwner ? 204 : 404
        // The upload is complete.
        case .append: return role == .owner && stage.hasOwner ? 409 : 404
        case .giveUp:
            guard role == .owner, stage.hasOwner else { return 404 }
            return stage == .unused ? 204 : 409
        }
    }
}
