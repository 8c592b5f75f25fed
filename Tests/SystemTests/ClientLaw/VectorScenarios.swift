// The stories of the client vectors. Each causes certain events, and checks after each part what the device shows.

import Foundation
import TestSupport
import Testing

/// A story, by the name of its file.
enum VectorScenario: String, CaseIterable, Sendable {
    case direct, group, reactions, deletes, room, membership, settings, receipts, expiry, attachments, account, holes
    case pages, older

    var about: String {
        switch self {
        case .direct: "A direct thread: messages of both, read marks, mentions, the peer's new name, typing."
        case .group: "A group: new title and image, messages, replies, edits, a system message."
        case .reactions: "Reactions of several people; an edit keeps the reactions that are the user's own."
        case .deletes: "Messages deleted for everyone and for the user, unread ones and the last ones too."
        case .room: "A room with a history: joined, left, joined again."
        case .membership: "Invited, declined, accepted, promoted, removed, added again; others come and go."
        case .settings: "Pinned, archived, muted; messages hidden and shown again; marked as unread."
        case .receipts: "Read and delivered marks of members, in a small group and combined in one of twelve."
        case .expiry: "Messages that expire, and messages that the server forgets once they are delivered."
        case .attachments: "Messages with files: sent, edited, deleted."
        case .account: "The own profile, blocks, and a device that is signed out."
        case .holes: "A long thread read in pages, with a hole that is closed later."
        case .pages: "An inbox of several pages, which are later than the cursor."
        case .older: "Answers that arrive after events of later changes: they overwrite nothing."
        }
    }

    func play(_ stage: inout VectorStage) async throws {
        switch self {
        case .direct: try await stage.playDirect()
        case .group: try await stage.playGroup()
        case .reactions: try await stage.playReactions()
        case .deletes: try await stage.playDeletes()
        case .room: try await stage.playRoom()
        case .membership: try await stage.playMembership()
        case .settings: try await stage.playSettings()
        case .receipts: try await stage.playReceipts()
        case .expiry: try await stage.playExpiry()
        case .attachments: try await stage.playAttachments()
        case .account: try await stage.playAccount()
        case .holes: try await stage.playHoles()
        case .pages: try await stage.playPages()
        case .older: try await stage.playOlder()
        }
    }
}

extension VectorStage {
    fileprivate mutating func playDirect() async throws {
        let thread = try await direct(by: ann, with: ben)
        try await check()
        try await send("Hello Ben", in: thread, by: ann)
        try await send("Are you there, @Ben?", in: thread, by: ann, mentions: [ben])
        try await check()
        try await send("Yes", in: thread, by: laptop)
        try await check()
        try await send("One", in: thread, by: ann)
        try await send("Two, @Ben", in: thread, by: ann, mentions: [ben])
        try await check()
        try await read(4, in: thread, by: laptop)
        try await check()
        try await call(
            "PATCH", "/users/me", ["name": "Ann B.", "status_text": "At sea", "custom": ["berth": 7]], as: ann)
        try await check()
        let (path, connection, typist) = ("/v1/threads/\(thread)/typing", caller, ann)
        let typing = Task {
            for _ in 0..<200 where !Task.isCancelled {
                try await Task.sleep(for: .milliseconds(300))
                _ = try await connection.put(path, [:], as: typist)
            }
        }
        try await wait { $0["type"] == "typing" }
        typing.cancel()
        _ = await typing.result
    }

    fileprivate mutating func playGroup() async throws {
        let thread = try await group("Trip", by: ann, with: [ben, cleo])
        let first = try await send("Where to?", in: thread, by: ann)
        try await check()
        let reply = try await send("To the sea", in: thread, by: cleo, ["reply_to": .string(first)])
        try await check()
        try await edit(reply, "To the lake", in: thread, by: cleo)
        try await check()
        try await edit(first, "Where to, and when?", in: thread, by: ann)
        try await call("PATCH", "/threads/\(thread)", ["title": "Trip to the lake"], as: ann)
        try await check()
        try await call("PATCH", "/threads/\(thread)", ["image": "https://example.com/lake.png"], as: ann)
        let own = try await send("Fine", in: thread, by: laptop)
        try await edit(own, "Fine with me", in: thread, by: laptop)
        try await check()
        try await call("PATCH", "/users/me", ["profile_image": "https://example.com/cleo.png"], as: cleo)
        let place: JSON = ["latitude": .number(59.3), "longitude": .number(18.1), "label": "The lake"]
        try await send("", in: thread, by: cleo, ["type": "location", "payload": place])
        try await check()
        try await call(
            "PATCH", "/threads/\(thread)", ["title": nil, "image": nil, "custom": ["order": 42], "labels": ["order"]],
            as: ann)
    }

    fileprivate mutating func playReactions() async throws {
        let thread = try await group("Trip", by: ann, with: [ben, cleo])
        let first = try await send("A river of tea", in: thread, by: ann)
        let second = try await send("And toast", in: thread, by: ann)
        try await check()
        try await react("👍", to: first, in: thread, by: cleo)
        try await react("👍", to: first, in: thread, by: laptop)
        try await react("❤️", to: first, in: thread, by: laptop)
        try await check()
        try await edit(first, "A river of coffee", in: thread, by: ann)
        try await check()
        try await react("❤️", put: false, to: first, in: thread, by: laptop)
        try await react("👍", put: false, to: first, in: thread, by: cleo)
        try await react("🎉", to: second, in: thread, by: ann)
        try await check()
        try await react("🎉", to: second, in: thread, by: laptop)
        try await react("🎉", put: false, to: second, in: thread, by: ann)
        try await check()
        try await delete(second, for: "everyone", in: thread, by: ann)
        try await check()
        // A device that has loaded the page knows which reactions are the user's own.
        try await scroll(thread, limit: 10)
        try await react("👍", to: first, in: thread, by: ann)
    }

    fileprivate mutating func playDeletes() async throws {
        let thread = try await group("Trip", by: ann, with: [ben, cleo])
        var sent: [String] = []
        for text in ["One", "Two", "Three", "Four"] { sent.append(try await send(text, in: thread, by: ann)) }
        let mention = try await send("Five, @Ben", in: thread, by: ann, mentions: [ben])
        try await check()
        try await read(2, in: thread, by: laptop)
        try await delete(sent[0], for: "everyone", in: thread, by: ann)
        try await check()
        try await delete(sent[2], for: "everyone", in: thread, by: ann)
        try await check()
        try await delete(mention, for: "everyone", in: thread, by: ann)
        try await check()
        try await delete(sent[3], for: "me", in: thread, by: laptop)
        try await delete(sent[1], for: "me", in: thread, by: laptop)
        try await check()
        // The device knows no earlier message than these, and asks.
        let last = try await send("Six", in: thread, by: cleo)
        try await reload()
        try await delete(last, for: "me", in: thread, by: laptop)
        try await check()
        // Deleted before the device polls: the message arrives as a tombstone, is counted, and taken off again.
        let brief = try await send("Seven", in: thread, by: cleo)
        try await delete(brief, for: "everyone", in: thread, by: cleo)
        try await check()
        let own = try await send("Eight", in: thread, by: laptop)
        try await delete(own, for: "everyone", in: thread, by: ann)
    }

    fileprivate mutating func playRoom() async throws {
        let title = unique("The Lounge ")
        let thread = try await call("POST", "/rooms", ["title": .string(title)], as: ann)["id"].string ?? ""
        try await send("Anybody?", in: thread, by: ann)
        try await send("Nobody.", in: thread, by: ann)
        try await call("POST", "/rooms", ["title": .string(title)], as: laptop)
        try await check()
        try await send("There you are", in: thread, by: ann)
        try await check()
        try await call("DELETE", "/threads/\(thread)/members/me", as: laptop)
        try await check()
        try await send("Gone again", in: thread, by: ann)
        try await call("PUT", "/threads/\(thread)/members/me", ["status": "joined"], as: cleo)
        try await call("PUT", "/threads/\(thread)/members/me", ["status": "joined"], as: laptop)
        try await check()
        try await send("Back", in: thread, by: laptop)
    }

    fileprivate mutating func playMembership() async throws {
        let thread = try await group("Trip", by: ann, with: [ben], invite: true)
        try await check()
        try await call("DELETE", "/threads/\(thread)/members/me", as: laptop)
        try await check()
        try await send("Before", in: thread, by: ann)
        try await setMember(ben, ["status": "invited"], in: thread, by: ann)
        try await check()
        try await call("PUT", "/threads/\(thread)/members/me", ["status": "joined"], as: laptop)
        try await check()
        try await loadMembers(of: thread)
        try await setMember(cleo, ["status": "invited"], in: thread, by: ann)
        try await check()
        try await call("PUT", "/threads/\(thread)/members/me", ["status": "joined"], as: cleo)
        try await setMember(ben, ["role": "admin"], in: thread, by: ann)
        try await check()
        try await setMember(cleo, ["role": "owner"], in: thread, by: ann)
        try await call("DELETE", "/threads/\(thread)/members/me", as: ann)
        try await check()
        try await removeMember(ben, in: thread, by: cleo)
        try await check()
        try await send("Ben is gone", in: thread, by: cleo)
        try await setMember(ben, ["status": "joined"], in: thread, by: cleo)
        try await check()
        try await send("Welcome back, @Ben", in: thread, by: cleo, mentions: [ben])
    }

    fileprivate mutating func playSettings() async throws {
        let thread = try await group("Trip", by: ann, with: [ben])
        for number in 1...6 {
            try await send("Number \(number)", in: thread, by: ann, mentions: number > 4 ? [ben] : [])
        }
        try await check()
        try await settings(["pinned": true, "notify": "mentions"], in: thread)
        try await settings(["archived": true, "muted_until": "2030-01-01T00:00:00.000Z"], in: thread)
        try await check()
        try await read(6, in: thread, by: laptop)
        try await check()
        try await call("PUT", "/threads/\(thread)/unread", ["from": 3], as: laptop)
        try await check()
        try await settings(["hidden_before_seq": 5], in: thread)
        try await check()
        try await settings(["hidden_before_seq": 7], in: thread)
        try await check()
        try await settings(["hidden_before_seq": 4, "archived": false, "muted_until": nil], in: thread)
        try await check()
        try await settings(["archived": true, "notify": "mentions"], in: thread)
        try await send("For everybody", in: thread, by: ann)
        try await check()
        try await send("For you, @Ben", in: thread, by: ann, mentions: [ben])
        try await check()
        try await settings(["hidden_before_seq": 0, "pinned": false, "notify": "all"], in: thread)
        try await settings(["custom": ["colour": "red"], "labels": ["work", "urgent"]], in: thread)
        try await check()
        try await settings(["custom": nil, "labels": ["work"]], in: thread)
        try await scroll(thread, limit: 10)
    }

    fileprivate mutating func playReceipts() async throws {
        let thread = try await group("Trip", by: ann, with: [ben, cleo])
        try await check()
        try await loadMembers(of: thread)
        try await send("Hello", in: thread, by: laptop)
        try await read(1, in: thread, by: ann)
        try await call("PUT", "/threads/\(thread)/receipts", ["delivered": 1], as: cleo)
        try await check()
        try await send("Hello Ben", in: thread, by: cleo)
        try await send("Hello you two", in: thread, by: ann)
        try await check()
        try await read(2, in: thread, by: laptop)
        try await check()
        try await call("PUT", "/threads/\(thread)/unread", ["from": 1], as: laptop)
        try await check()
        var others: [Person] = []
        for name in ["Dan", "Eve", "Fay", "Gus", "Hal", "Ida", "Jon", "Kim", "Lea"] {
            others.append(try await caller.register(name))
        }
        let large = try await group("Festival", by: ann, with: [ben, cleo] + others)
        try await loadMembers(of: large)
        try await send("Hello all", in: large, by: ann)
        for other in others { try await read(1, in: large, by: other) }
        try await waitForReaders(others)
        try await read(1, in: large, by: laptop)
    }

    fileprivate mutating func playExpiry() async throws {
        let thread = try await group("Trip", by: ann, with: [ben])
        try await send("Stays", in: thread, by: ann)
        try await send("Goes", in: thread, by: ann, ["expires_in_s": 6])
        // Well before the message expires.
        try await check()
        try await wait { $0["type"] == "message.deleted" }
        try await check()
        try await call("PATCH", "/threads/\(thread)", ["retention": ["keep": "seconds", "seconds": 3]], as: ann)
        try await send("Goes soon", in: thread, by: ann)
        try await wait { $0["type"] == "message.deleted" }
        try await check()
        try await call("PATCH", "/threads/\(thread)", ["retention": ["keep": "until_delivered"]], as: ann)
        let passing = try await send("For Ben's devices only", in: thread, by: ann)
        try await check()
        // Ben's second device and Ann's poll; then the server forgets the content, and the device keeps it.
        for person in [laptop, ann] {
            _ = try await caller.sync(person, from: try await caller.cursor(of: person))
        }
        let path = "/v1/threads/\(thread)/messages/\(passing)"
        let (connection, reader) = (caller, ann)
        try await eventually("the content to be gone", within: .seconds(60), every: .milliseconds(200)) {
            try await connection.get(path, as: reader).json["payload"] == .null
        }
        try await scroll(thread, limit: 10)
    }

    fileprivate mutating func playAttachments() async throws {
        let thread = try await direct(by: ann, with: ben)
        var ids: [JSON] = []
        for (name, bytes) in [("notes.txt", "river, tea"), ("list.txt", "hill, toast")] {
            var request = Request("POST", "/v1/attachments?name=\(name)")
            request.headers = [("Authorization", "Bearer \(ann.token)"), ("Content-Type", "text/plain")]
            request.body = Data(bytes.utf8)
            ids.append(["id": try await caller.send(request).json["id"]])
        }
        let message = try await send(
            "", in: thread, by: ann, ["payload": ["text": "Two files", "attachments": .array(ids)]])
        try await check()
        try await call(
            "PATCH", "/threads/\(thread)/messages/\(message)",
            ["payload": ["text": "One file", "attachments": [ids[0]]]], as: ann)
        try await check()
        try await send("", in: thread, by: laptop, ["payload": ["attachments": [ids[0]]]])
        try await delete(message, for: "everyone", in: thread, by: ann)
    }

    fileprivate mutating func playAccount() async throws {
        let thread = try await group("Trip", by: ann, with: [ben, cleo])
        let another = try await direct(by: ben, with: cleo)
        try await send("Mine", in: thread, by: laptop)
        try await send("Also mine", in: another, by: laptop)
        try await check()
        try await loadMembers(of: thread)
        try await call(
            "PATCH", "/users/me",
            ["name": "Benjamin", "preferences": ["push": "none"], "custom": ["theme": "dark"]], as: laptop)
        try await check()
        try await call("PUT", "/users/me/blocks/\(cleo.id)", as: laptop)
        try await call("PUT", "/users/me/blocks/\(ann.id)", as: laptop)
        try await check()
        for person in [ann, cleo] { try await call("DELETE", "/users/me/blocks/\(person.id)", as: laptop) }
        let phone = try await caller.logIn(again: ben)
        try await call("DELETE", "/sessions/\(phone.session)", as: laptop)
        try await check()
        try await call("DELETE", "/users/me?messages=keep", as: cleo)
        // The server erases the account after its answer. In the end the account leaves both threads.
        try await wait(count: 2) { $0["type"] == "member.updated" && $0["data"]["status"] == "left" }
    }
}
