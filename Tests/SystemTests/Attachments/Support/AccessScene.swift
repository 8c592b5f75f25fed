// A group with one person of each role, an attachment, and what happens to it.

import Foundation
import TestSupport
import Testing

struct AccessScene {
    private let nodes: TestNodes
    private let stage: AttachmentStage
    private var people: [Role: Person] = [:]
    /// What each role had obtained while it could see the attachment; for the others, something edited.
    private var links: [Role: String] = [:]
    private var cookies: [Role: Headers] = [:]
    /// A thread of each person's own, to forward to.
    private var threads: [Role: String] = [:]
    private let attachment: String

    private var caller: Connection { Connection(nodes.a.address) }

    init(_ stage: AttachmentStage, _ nodes: TestNodes) async throws {
        self.nodes = nodes
        self.stage = stage
        let caller = Connection(nodes.a.address)
        for role in Role.allCases where role.isSignedIn {
            people[role] = try await caller.register(role.rawValue.filter(\.isLetter))
        }
        let owner = try #require(people[.owner])
        let member = try #require(people[.member])
        people[.ended] = try await caller.logIn(again: member)
        for (role, person) in people {
            cookies[role] = try await caller.mediaCookie(of: person)
            threads[role] = try await caller.thread("group", by: person, with: [])
        }
        let picture = Data(try TestPictures.shared().bytes("orientation1.jpg"))
        attachment = try await caller.uploaded(picture, as: owner)["id"].string ?? ""
        let present = [Role.member, .removed, .left, .blocked].compactMap { people[$0] }
        let group = try await caller.thread("group", by: owner, with: present)
        let path = "/v1/threads/\(group)"
        try await use(owner, in: group)
        for (role, person) in people {
            let answer = try await caller.post(Attachments.path(attachment, "/link"), [:], as: person)
            if answer.status == 200 { links[role] = try await caller.link(attachment, as: person) }
        }
        let invited = try #require(people[.invited])
        try await done(caller.put(path + "/members/\(invited.id)", ["status": "invited"], as: owner))
        try await done(caller.delete(path + "/members/\(try #require(people[.removed]).id)", as: owner))
        try await done(caller.delete(path + "/members/me", as: people[.left]))
        try await done(caller.put(path + "/members/\(try #require(people[.later]).id)", [:], as: owner))
        try await done(caller.put("/v1/users/me/blocks/\(try #require(people[.blocked]).id)", [:], as: owner))
        try await done(caller.call("POST", "/v1/auth/logout", as: people[.ended]))
        for role in [Role.later, .invited] where stage.seers.contains(role) && links[role] == nil {
            links[role] = try await caller.link(attachment, as: try #require(people[role]))
        }
        try await change(owner, member, in: group)
    }

    private func done(_ answer: Answer, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try #require((200..<300).contains(answer.status), "\(answer)", sourceLocation: sourceLocation)
    }

    /// Makes the attachment part of a message, a thread or a profile.
    private func use(_ owner: Person, in group: String) async throws {
        let image: JSON = "attachment:\(attachment)"
        switch stage {
        case .unused: break
        case .threadPicture:
            try await done(caller.call("PATCH", "/v1/threads/\(group)", ["image": image], as: owner))
        case .profilePicture:
            try await done(caller.call("PATCH", "/v1/users/me", ["profile_image": image], as: owner))
        default:
            _ = try await caller.shared(
                [attachment], in: group, as: owner, more: stage == .expired ? ["expires_in_s": 600] : [:])
        }
    }

    private func change(_ owner: Person, _ member: Person, in group: String) async throws {
        let messages = "/v1/threads/\(group)/messages"
        let page = try await caller.get(messages + "?limit=200", as: owner).json["messages"].items
        let message = page.first { $0["type"] == "message" }?["id"].string ?? ""
        switch stage {
        case .unused, .used, .threadPicture, .profilePicture: return
        case .deletedForEveryone: try await done(caller.delete("\(messages)/\(message)?for=everyone", as: owner))
        case .deletedForMe: return try await done(caller.delete("\(messages)/\(message)?for=me", as: member))
        case .expired:
            try await Psql.run(
                "update message_expiries set expires_at = now() where thread_id = '\(group)'", conninfo: nodes.database)
        // The message's earlier version keeps the bytes, and nobody sees them.
        case .dropped:
            return try await done(caller.call("PATCH", "\(messages)/\(message)", ["payload": ["text": "x"]], as: owner))
        case .ownerErased: return try await done(caller.delete("/v1/users/me", as: owner))
        case .messagesErased: try await done(caller.delete("/v1/users/me?messages=erase", as: owner))
        }
        try await eventually("the attachment to be gone", within: .seconds(60), every: .milliseconds(100)) {
            try await Psql.run(
                "select count(*) from attachments where id = '\(attachment)'", conninfo: nodes.database) == "0"
        }
    }

    /// The status that a role gets, from the other node.
    func status(of call: AttachmentCall, by role: Role) async throws -> Answer {
        let caller = Connection(nodes.b.address)
        let person = people[role]
        let path = Attachments.path(attachment)
        switch call {
        case .get: return try await caller.transfer("GET", path, as: person)
        case .head: return try await caller.transfer("HEAD", path, as: person)
        case .thumbnail: return try await caller.transfer("GET", path + "/thumbnail", as: person)
        case .info: return try await caller.get(path + "/info", as: person)
        case .link: return try await caller.post(path + "/link", [:], as: person)
        case .getByLink: return try await caller.get(links[role] ?? madeUpLink)
        case .getByCookie: return try await caller.transfer("GET", path, cookies[role] ?? [])
        case .headByCookie: return try await caller.transfer("HEAD", path, cookies[role] ?? [])
        case .forward:
            return try await caller.share([attachment], in: threads[role] ?? newID(), as: person ?? Self.nobody)
        case .received: return try await caller.call("POST", path + "/received", as: person)
        case .progress: return try await caller.progress(of: attachment, as: person)
        case .append: return try await caller.append(Data([1]), to: attachment, at: 0, complete: true, as: person)
        case .giveUp: return try await caller.delete(path, as: person)
        }
    }

    private static let nobody = Person(id: "", username: "", password: "", session: "", token: "x")

    /// The owner's link with its last character changed.
    private var madeUpLink: String {
        let link = links[.owner] ?? Attachments.path(attachment, "?link=" + String(repeating: "A", count: 97))
        return link.dropLast() + (link.hasSuffix("A") ? "Q" : "A")
    }
}

extension Caller {
    fileprivate func transfer(_ method: String, _ path: String, _ headers: Headers) async throws -> Answer {
        try await transfer(method, path, nil, as: nil, headers)
    }
}
