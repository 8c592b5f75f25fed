// docs/access.md, cell by cell: every role tries every call.
import Domain
import Foundation
import TestSupport
import Testing

/// The columns of the table, in its order.
private enum Standing: String, CaseIterable { case nobody, stranger, removed, invited, member, admin, owner, blocked }

/// The people of one test, with the same role in each of its threads.
private struct Cast {
    let people: [Standing: Person]
    let otherOwner: Person
    let otherAdmin: Person
    let otherMember: Person
    let otherInvited: Person
    let newcomer: Person
    /// Left every group and room by their own choice.
    let leaver: Person
    /// Has blocked `blocked`.
    let blocker: Person

    init() async throws {
        var people: [Standing: Person] = [.nobody: Person(client: try await Client(), id: "", username: "")]
        for standing in Standing.allCases where standing != .nobody {
            people[standing] = try await Person.make(standing.rawValue)
        }
        self.people = people
        (otherOwner, otherAdmin) = (try await .make(), try await .make())
        (otherMember, otherInvited, newcomer) = (try await .make(), try await .make(), try await .make())
        (leaver, blocker) = (try await .make(), try await .make())
    }
}

/// One thread with all its members.
private struct Ground {
    let cast: Cast
    let kind: String
    let title: String
    let thread: String
    /// A message of the other owner; in a direct thread of the other person.
    let message: String
    let ownMessages: [Standing: String]
    /// A member other than the caller.
    let another: Person

    init(_ cast: Cast, kind: String) async throws {
        self.cast = cast
        self.kind = kind
        if kind.hasPrefix("direct") {
            title = ""
            another = cast.blocker
            (thread, message, ownMessages) = try await Self.direct(cast, isOpener: kind == Self.openedDirect)
            return
        }
        another = cast.otherMember
        title = "T \(UserID.make().description.suffix(12))"
        let made = try await cast.otherOwner.client.post("/v1/threads", #"{"kind":"\#(kind)","title":"\#(title)"}"#)
        thread = try made.string("id")
        let members = "/v1/threads/\(thread)/members"
        for (person, body) in [
            (cast.people[.removed], ""), (cast.people[.invited], #"{"status":"invited"}"#), (cast.people[.member], ""),
            (cast.people[.admin], #"{"role":"admin"}"#), (cast.people[.owner], #"{"role":"owner"}"#),
            (cast.otherAdmin, #"{"role":"admin"}"#), (cast.otherMember, ""),
            (cast.otherInvited, #"{"status":"invited"}"#), (cast.leaver, ""),
        ] {
            let id = try #require(person?.id)
            #expect(try await cast.otherOwner.client.put("\(members)/\(id)", body).status == 200)
        }
        message = try await cast.otherOwner.say("hello", in: thread).string("id")
        var own: [Standing: String] = [:]
        for standing in [Standing.removed, .member, .admin, .owner] {
            own[standing] = try await cast.people[standing]?.say("mine", in: thread).string("id")
        }
        ownMessages = own
        let removed = try #require(cast.people[.removed]?.id)
        #expect(try await cast.otherOwner.client.delete("\(members)/\(removed)").status == 204)
        #expect(try await cast.leaver.client.delete("\(members)/me").status == 204)
    }

    /// A direct thread that the blocked person has opened.
    static let openedDirect = "direct thread of one's own"

    /// The direct thread of a blocked person and the blocker, after both have sent messages.
    /// - Parameter isOpener: whether the blocked person opened the thread.
    private static func direct(_ cast: Cast, isOpener: Bool) async throws -> (String, String, [Standing: String]) {
        let blocked = try #require(cast.people[.blocked])
        let block = "/v1/users/me/blocks/\(blocked.id)"
        #expect(try await cast.blocker.client.delete(block).status == 204)
        let (opener, other) = isOpener ? (blocked, cast.blocker) : (cast.blocker, blocked)
        let thread = try await opener.direct(with: other)
        let message = try await cast.blocker.say("hello", in: thread).string("id")
        let own = try await blocked.say("mine", in: thread).string("id")
        #expect(try await cast.blocker.client.put(block).status == 204)
        return (thread, message, [.blocked: own])
    }
}

/// The call of a row of the table. Returns nil where the row does not apply.
private typealias Attempt = @Sendable (Ground, Standing, Client) async throws -> Reply?

private func attempt(_ method: String, _ path: @escaping @Sendable (Ground) -> String, _ body: String? = nil) -> Attempt
{
    { ground, _, client in
        try await client.send(method, "/v1/threads/\(ground.thread)\(path(ground))", body: body)
    }
}

private let attempts: [String: Attempt] = [
    "look at the thread": attempt("GET", { _ in "" }),
    "change its title or image": attempt("PATCH", { _ in "" }, #"{"image":"https://example.org/a.png"}"#),
    "change how long it keeps messages": attempt("PATCH", { _ in "" }, #"{"retention":{"keep":"until_delivered"}}"#),
    "change one's own settings of it": attempt("PATCH", { _ in "/settings" }, #"{"pinned":true}"#),
    "list the members": attempt("GET", { _ in "/members" }),
    "add somebody": attempt("PUT", { "/members/\($0.cast.newcomer.id)" }),
    "invite somebody": attempt("PUT", { "/members/\($0.cast.newcomer.id)" }, #"{"status":"invited"}"#),
    "add somebody who left": attempt("PUT", { "/members/\($0.cast.leaver.id)" }),
    "invite somebody who left": attempt("PUT", { "/members/\($0.cast.leaver.id)" }, #"{"status":"invited"}"#),
    "withdraw an invitation": attempt("DELETE", { "/members/\($0.cast.otherInvited.id)" }),
    "change a member's role": attempt("PUT", { "/members/\($0.cast.otherMember.id)" }, #"{"role":"admin"}"#),
    "change an admin's role": attempt("PUT", { "/members/\($0.cast.otherAdmin.id)" }, #"{"role":"member"}"#),
    "change an owner's role": attempt("PUT", { "/members/\($0.cast.otherOwner.id)" }, #"{"role":"member"}"#),
    "change one's own role": { ground, standing, client in
        let role = standing == .admin ? "owner" : "admin"
        return try await client.put("/v1/threads/\(ground.thread)/members/me", #"{"role":"\#(role)"}"#)
    },
    "remove a member": attempt("DELETE", { "/members/\($0.cast.otherMember.id)" }),
    "remove an admin": attempt("DELETE", { "/members/\($0.cast.otherAdmin.id)" }),
    "remove an owner": attempt("DELETE", { "/members/\($0.cast.otherOwner.id)" }),
    "join a group by its id": { ground, _, client in
        guard ground.kind == "group" else { return nil }
        return try await client.put("/v1/threads/\(ground.thread)/members/me", #"{"status":"joined"}"#)
    },
    "join a room by its id": { ground, _, client in
        guard ground.kind == "room" else { return nil }
        return try await client.put("/v1/threads/\(ground.thread)/members/me", #"{"status":"joined"}"#)
    },
    "join a room by its title": { ground, _, client in
        guard ground.kind == "room" else { return nil }
        return try await client.post("/v1/rooms", #"{"title":"\#(ground.title)"}"#)
    },
    "leave, or decline": attempt("DELETE", { _ in "/members/me" }),
    "read the history": attempt("GET", { _ in "/messages" }),
    "read one message": attempt("GET", { "/messages/\($0.message)" }),
    "send a message": attempt("POST", { _ in "/messages" }, #"{"payload":{"text":"hi"}}"#),
    "edit one's own message": { ground, standing, client in
        guard let message = ground.ownMessages[standing] else { return nil }
        return try await client.patch(
            "/v1/threads/\(ground.thread)/messages/\(message)", #"{"payload":{"text":"yours"}}"#)
    },
    "read earlier versions of a message": attempt("GET", { "/messages/\($0.message)/edits" }),
    "edit another's message": attempt("PATCH", { "/messages/\($0.message)" }, #"{"payload":{"text":"x"}}"#),
    "react to a message": attempt("PUT", { "/messages/\($0.message)/reactions/%F0%9F%91%8D" }),
    "take one's reaction back": attempt("DELETE", { "/messages/\($0.message)/reactions/%F0%9F%91%8D" }),
    "see who reacted": attempt("GET", { "/messages/\($0.message)/reactions/%F0%9F%91%8D" }),
    "delete a message for oneself": attempt("DELETE", { "/messages/\($0.message)?for=me" }),
    "delete one's own message for everyone": { ground, standing, client in
        guard let message = ground.ownMessages[standing] else { return nil }
        return try await client.delete("/v1/threads/\(ground.thread)/messages/\(message)")
    },
    "delete another's message for everyone": attempt("DELETE", { "/messages/\($0.message)" }),
    "put a receipt": attempt("PUT", { _ in "/receipts" }, #"{"read":1}"#),
    "mark messages unread again": attempt("PUT", { _ in "/unread" }, #"{"from":1}"#),
    "show that one is typing": attempt("PUT", { _ in "/typing" }),
    "list the commands": { ground, _, client in
        try await client.get("/v1/commands?thread_id=\(ground.thread)")
    },
    "search the thread": { ground, _, client in
        try await client.get("/v1/search?q=hello&thread=\(ground.thread)")
    },
    "see who has read a message": attempt("GET", { "/messages/\($0.message)/receipts" }),
    "open a direct thread with another": { ground, _, client in
        try await client.post("/v1/threads", #"{"kind":"direct","members":["\#(ground.another.id)"]}"#)
    },
    "make a group with another": { ground, _, client in
        try await client.post("/v1/threads", #"{"kind":"group","members":["\#(ground.another.id)"]}"#)
    },
    "invite another to a group of one's own": { ground, _, client in
        let group = try await client.post("/v1/threads", #"{"kind":"group"}"#)
        guard group.status == 201 else { return group }
        return try await client.put(
            "/v1/threads/\(group.string("id"))/members/\(ground.another.id)", #"{"status":"invited"}"#)
    },
]

@Suite("Access by role", .timeLimit(.minutes(2)))
struct AccessByRole {
    /// The rows of the table: the first column and the cells after it.
    private static let table: [(call: String, cells: [String])] = {
        let file = Repository.file("docs/access.md")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
            let cells = line.dropFirst().dropLast().split(separator: "|").map {
                String($0.trimmingPrefix(" ").dropLast())
            }
            return (cells[0], Array(cells.dropFirst()))
        }
    }()

    /// The first words of the calls that change nothing.
    private static let reads = ["look at ", "list ", "read ", "search ", "see "]

    private static let inboxRow = "find the thread in one's inbox"

    @Test("the table has the columns and rows that this test tries")
    func tableIsWhole() throws {
        let head = try #require(Self.table.first)
        #expect(head.cells == Standing.allCases.map(\.rawValue))
        let rows = Self.table.dropFirst(2).map(\.call)
        #expect(
            Set(rows).symmetricDifference(Set(attempts.keys).union([Self.inboxRow])).sorted() == [],
            "Each needs a row in docs/access.md, and a call in `attempts`, Tests/APITests/Identity/AccessByRole.swift."
        )
        #expect(Set(rows).count == rows.count)
    }

    @Test("every cell agrees with the service", arguments: ["group", "room", "direct", Ground.openedDirect])
    func cells(_ kind: String) async throws {
        let cast = try await Cast()
        var ground: Ground?
        for (call, cells) in Self.table.dropFirst(2) {
            guard let attempt = attempts[call] else { continue }
            for (standing, cell) in zip(Standing.allCases, cells)
            where (standing == .blocked) == kind.hasPrefix("direct") {
                let stage: Ground = if let ground { ground } else { try await Ground(cast, kind: kind) }
                ground = stage
                let client = try #require(cast.people[standing]?.client)
                guard let reply = try await attempt(stage, standing, client) else { continue }
                #expect(outcome(reply) == cell, "\(standing) in a \(kind): \(call): \(reply.text)")
                // An accepted write may have changed roles, so the next call gets a new thread.
                if reply.status < 300, !Self.reads.contains(where: call.hasPrefix) { ground = nil }
            }
        }
    }

    @Test("the inbox lists the threads that the table names", arguments: ["group", "room", "direct"])
    func inbox(_ kind: String) async throws {
        let cast = try await Cast()
        let ground = try await Ground(cast, kind: kind)
        let row = try #require(Self.table.first { $0.call == Self.inboxRow })
        for (standing, cell) in zip(Standing.allCases, row.cells) where (standing == .blocked) == (kind == "direct") {
            let reply = try #require(try await cast.people[standing]?.client.get("/v1/inbox"))
            let isThere = reply["threads"]?.array?.contains { $0["id"]?.string == ground.thread } ?? false
            #expect((reply.status == 200 ? isThere ? "yes" : "hidden" : outcome(reply)) == cell, "\(standing)")
        }
    }

    private func outcome(_ reply: Reply) -> String {
        switch (reply.status, reply.problemCode) {
        case (200..<300, _): "yes"
        case (401, "unauthenticated"): "sign in"
        case (403, "not_joined"): "join first"
        case (403, "not_allowed"): "no"
        case (403, "not_reachable"): "not reachable"
        case (403, "member_left"): "invite only"
        // A direct thread always has the same two people, and no title.
        case (409, "direct_members_fixed"), (422, "invalid"): "–"
        case (404, "thread_not_found"): "hidden"
        default: reply.text
        }
    }
}
