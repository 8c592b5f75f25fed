// Writes are limited by account, strangers are counted by person on all nodes, and threads have a limit.

import Foundation
import TestSupport
import Testing

/// A limited call, which the test repeats. `number` counts the rounds.
private typealias WriteCall = @Sendable (Connection, Attacker, _ number: Int) async throws -> Answer

/// A person with their own group and a message in it.
private struct Attacker: Sendable {
    let person: Person
    let group: String
    let message: String
    /// The person whose invitation to the group is made and withdrawn.
    let invited: Person

    /// - Parameter others: two other people: a member, and one who gets invited.
    init(_ node: Node, _ others: [Person]) async throws {
        person = try await node.curl.register("Eve")
        invited = others[1]
        group = try await node.curl.thread("group", by: person, with: [others[0]])
        message = try await node.curl.sent("hello", in: group, as: person)
    }

    var groupPath: String { "/v1/threads/\(group)" }
    var messagePath: String { "\(groupPath)/messages/\(message)" }
}

/// The limited calls, each with the limit that stops it.
private let writeCalls: [(limit: String, what: String, call: WriteCall)] = [
    ("account-writes", "rename", { try await $0.call("PATCH", $1.groupPath, ["title": "T \($2)"], as: $1.person) }),
    (
        "account-writes", "edit",
        { try await $0.call("PATCH", $1.messagePath, ["payload": ["text": "edit \($2)"]], as: $1.person) }
    ),
    (
        "account-writes", "react and take it back",
        {
            let path = "\($1.messagePath)/reactions/%F0%9F%91%8D"
            return try await $0.call($2 % 2 == 0 ? "PUT" : "DELETE", path, as: $1.person)
        }
    ),
    (
        "account-writes", "invite and withdraw",
        {
            let path = "\($1.groupPath)/members/\($1.invited.id)"
            return $2 % 2 == 0
                ? try await $0.put(path, ["status": "invited"], as: $1.person)
                : try await $0.delete(path, as: $1.person)
        }
    ),
    (
        "account-writes", "settings",
        { try await $0.call("PATCH", "\($1.groupPath)/settings", ["pinned": .bool($2 % 2 == 0)], as: $1.person) }
    ),
    (
        "account-typing", "typing",
        { connection, attacker, _ in
            try await connection.call("PUT", "\(attacker.groupPath)/typing", as: attacker.person)
        }
    ),
    (
        "account-receipts", "receipts",
        { connection, attacker, _ in
            try await connection.put("\(attacker.groupPath)/receipts", ["read": 1], as: attacker.person)
        }
    ),
    (
        "account-threads", "new rooms",
        { connection, attacker, _ in
            try await connection.post("/v1/rooms", ["title": .string(unique("Room "))], as: attacker.person)
        }
    ),
    (
        "account-profile-changes", "profile",
        { try await $0.call("PATCH", "/v1/users/me", ["name": "Eve \($2)"], as: $1.person) }
    ),
]

extension SystemTests {
    @Suite("Write limits of an account")
    struct WriteLimits {
        @Test("each limited call is refused with 429 when its bucket is empty, and sends go on")
        func buckets() async throws {
            let quota = 40
            var settings = ["PARLEY_RATE_LIMITS": "on"]
            for name in ["TYPING", "RECEIPTS", "THREADS", "PROFILE_CHANGES"] {
                settings["PARLEY_LIMIT_ACCOUNT_\(name)"] = "\(quota)"
            }
            // Rooms and profiles count as writes, too, but are to be stopped by their own bucket here.
            settings["PARLEY_LIMIT_ACCOUNT_WRITES"] = "\(quota + 10)"
            let node = try await Node.start(
                database: try await TestCluster.shared().createDatabase(), settings: settings)
            let others = [try await node.curl.register("Gil"), try await node.curl.register("Ian")]
            let connection = Connection(node.address)
            for (limit, what, call) in writeCalls {
                // A new account each time: the bucket of one row must not be what stops the next.
                let attacker = try await Attacker(node, others)
                var (acceptedCount, refusal): (Int, Answer?) = (0, nil)
                for number in 0..<3 * quota where refusal == nil {
                    let answer = try await call(connection, attacker, number)
                    if answer.status == 429 {
                        refusal = answer
                    } else {
                        #expect((200..<300).contains(answer.status), "\(what): \(answer)")
                        acceptedCount += 1
                    }
                }
                // Making the group has used a token or two, and some come back while this runs.
                #expect((quota - 4...quota + 22).contains(acceptedCount), "\(what): \(acceptedCount)")
                let answer = try #require(refusal, "\(what) is not limited")
                #expect(answer.code == "rate_limited" && answer.headers["retry-after"] != nil, "\(what)")
                #expect(answer.headers["ratelimit"]?.hasPrefix("\"\(limit)\";") == true, "\(what): \(answer)")
                #expect(try await connection.say("hello", in: attacker.group, as: attacker.person).status == 201)
            }
            try await node.stop()
        }

        @Test("a call for many threads costs a token per thread, one in a large thread costs by its members")
        func weights() async throws {
            let settings = [
                "PARLEY_RATE_LIMITS": "on", "PARLEY_LIMIT_ACCOUNT_RECEIPTS": "100", "PARLEY_LIMIT_ACCOUNT_WRITES": "60",
            ]
            let database = try await TestCluster.shared().createDatabase()
            let node = try await Node.start(database: database, settings: settings)
            let others = [try await node.curl.register("Gil"), try await node.curl.register("Ian")]
            let eve = try await Attacker(node, others)
            let mark: JSON = ["thread_id": .string(eve.group), "read": 1]
            let marks: JSON = ["receipts": .array(Array(repeating: mark, count: 60))]
            #expect(try await node.curl.post("/v1/receipts", marks, as: eve.person).status == 204)
            #expect(try await node.curl.post("/v1/receipts", marks, as: eve.person).status == 429)

            // 3,000 members: 1 and 30 tokens a reaction. The second runs into debt, the third is refused.
            try await Psql.run(
                "update threads set member_count = 3000 where id = '\(eve.group)'", conninfo: database)
            var statuses: [Int] = []
            for emoji in ["%F0%9F%91%8D", "%F0%9F%8E%89", "%F0%9F%98%80"] {
                let path = "\(eve.messagePath)/reactions/\(emoji)"
                statuses.append(try await node.curl.call("PUT", path, as: eve.person).status)
            }
            #expect(statuses == [204, 204, 429])
            try await node.stop()
        }

        @Test("opening an existing thread does not count as a new thread")
        func standing() async throws {
            let node = try await Node.start(
                database: try await TestCluster.shared().createDatabase(),
                settings: ["PARLEY_RATE_LIMITS": "on", "PARLEY_LIMIT_ACCOUNT_THREADS_DAILY": "3"])
            let (ann, bob) = (try await node.curl.register("Ann"), try await node.curl.register("Bob"))
            let direct: JSON = ["kind": "direct", "members": [.string(bob.id)]]
            let title = JSON.string(unique("Room "))
            let connection = Connection(node.address)
            // More than a minute's quota, and a day's.
            for round in 0..<40 {
                let opened = try await connection.post("/v1/threads", direct, as: ann)
                let joined = try await connection.post("/v1/rooms", ["title": title], as: ann)
                let expected = round == 0 ? 201 : 200
                #expect(opened.status == expected && joined.status == expected, "\(opened) \(joined)")
            }
            #expect(try await connection.post("/v1/threads", ["kind": "group"], as: ann).status == 201)
            let refused = try await connection.post("/v1/threads", ["kind": "group"], as: ann)
            #expect(refused.headers["ratelimit"]?.contains("account-threads-daily") == true, "\(refused)")
            #expect(try await connection.post("/v1/threads", direct, as: ann).status == 200)
            try await node.stop()
        }

        @Test(
            "strangers are counted once each on all nodes together, people who share a thread are not counted")
        func strangers() async throws {
            let nodes = try await TestNodes.own(
                on: try await TestCluster.shared(),
                settings: ["PARLEY_RATE_LIMITS": "on", "PARLEY_LIMIT_ACCOUNT_STRANGERS": "5"])
            var people: [Person] = []
            for number in 0..<8 { people.append(try await nodes.a.curl.register("P\(number)")) }
            let ann = people[0]
            @Sendable func group(with others: ArraySlice<Person>, on node: Node) async throws -> Answer {
                let members = others.map { JSON.string($0.id) }
                return try await node.curl.post(
                    "/v1/threads", ["kind": "group", "title": "G", "members": .array(members)], as: ann)
            }
            // Three of five, then the same three again, who are no longer strangers.
            let made = try await group(with: people[1...3], on: nodes.a)
            #expect(made.status == 201)
            for _ in 0..<3 { #expect(try await group(with: people[1...3], on: nodes.b).status == 201) }
            // Three more are refused as a whole.
            let refused = try await group(with: people[3...6], on: nodes.b)
            #expect(refused.status == 429 && refused.headers["ratelimit"]?.contains("account-strangers") == true)
            #expect(refused.headers["ratelimit-policy"] == #""account-strangers";q=5;w=86400"#)
            #expect(Int(refused.headers["retry-after"] ?? "") ?? 0 > 3_600)
            // A direct thread and an invitation use the last two, a blocked attempt none.
            let block = try await nodes.a.curl.call("PUT", "/v1/users/me/blocks/\(ann.id)", as: people[7])
            #expect(block.status == 204)
            #expect(try await group(with: people[7...7], on: nodes.a).status == 403)
            _ = try await nodes.a.curl.thread("direct", by: ann, with: [people[4]])
            let members = "/v1/threads/\(made.json["id"].string ?? "")/members"
            let invite: JSON = ["status": "invited"]
            #expect(try await nodes.b.curl.put("\(members)/\(people[5].id)", invite, as: ann).status == 200)
            #expect(try await nodes.b.curl.put("\(members)/\(people[6].id)", [:], as: ann).status == 429)
            #expect(try await nodes.a.curl.put("\(members)/\(people[4].id)", [:], as: ann).status == 200)
            // A person who writes to the caller is no stranger.
            _ = try await nodes.a.curl.thread("direct", by: people[6], with: [ann])
            #expect(try await nodes.b.curl.put("\(members)/\(people[6].id)", [:], as: ann).status == 200)
            #expect(try await nodes.a.metric("parley_rate_limited_total") == 0)
            #expect(try await nodes.b.metric("parley_rate_limited_total") == 2)
            try await nodes.stop()
        }

        @Test("with PARLEY_STRANGERS=invite strangers are invited instead of added, by every call")
        func invites() async throws {
            let node = try await Node.start(
                database: try await TestCluster.shared().createDatabase(), settings: ["PARLEY_STRANGERS": "invite"])
            let (ann, bob) = (try await node.curl.register("Ann"), try await node.curl.register("Bob"))
            let cid = try await node.curl.register("Cid")
            @Sendable func status(of person: Person, in thread: String) async throws -> String? {
                try await node.curl.get("/v1/threads/\(thread)", as: person).json["me"]["status"].string
            }
            let direct = try await node.curl.thread("direct", by: ann, with: [bob])
            #expect(try await status(of: bob, in: direct) == "invited")
            // An unanswered invitation does not make people acquainted.
            let group = try await node.curl.thread("group", by: ann, with: [bob])
            #expect(try await status(of: bob, in: group) == "invited")
            let added = try await node.curl.put("/v1/threads/\(group)/members/\(cid.id)", ["status": "joined"], as: ann)
            #expect(added.json["status"].string == "invited")
            #expect(try await node.curl.say("hello?", in: direct, as: ann).status == 201)
            let accept: JSON = ["status": "joined"]
            #expect(try await node.curl.put("/v1/threads/\(direct)/members/me", accept, as: bob).status == 200)
            // From now on they share a thread.
            let mixed = try await node.curl.thread("group", by: ann, with: [bob, cid])
            #expect(try await status(of: bob, in: mixed) == "joined")
            #expect(try await status(of: cid, in: mixed) == "invited")
            let told = try await node.curl.get("/v1/inbox", as: cid).json["threads"].items
            #expect(told.count == 2 && told.allSatisfy { $0["me"]["invited_by"]["id"].string == ann.id })
            try await node.stop()
        }

        @Test("an account can't exceed its thread limit by any call, even with concurrent calls")
        func threads() async throws {
            let bound = 6
            let node = try await Node.start(
                database: try await TestCluster.shared().createDatabase(),
                settings: ["PARLEY_ACCOUNT_THREADS_MAX": "\(bound)"])
            let (ann, bob) = (try await node.curl.register("Ann"), try await node.curl.register("Bob"))
            let bobs = try await node.curl.thread("group", by: bob, with: [])
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for lane in 0..<3 * bound {
                    group.addTask {
                        let connection = Connection(node.address)
                        switch lane % 3 {
                        case 0:
                            let title = JSON.string(unique("Room "))
                            return try await connection.post("/v1/rooms", ["title": title], as: ann).status
                        case 1:
                            return try await connection.post("/v1/threads", ["kind": "group"], as: ann).status
                        default:
                            let members: JSON = .array([.string(ann.id)])
                            let body: JSON = ["kind": "group", "members": members, "invite": .bool(lane % 2 == 0)]
                            // Bob has a limit, too.
                            return lane < bound ? try await connection.post("/v1/threads", body, as: bob).status : 0
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(statuses).isSubset(of: [0, 201, 422]), "\(statuses)")
            func threads(of person: Person) async throws -> [JSON] {
                try await node.curl.get("/v1/inbox?limit=200", as: person).json["threads"].items
            }
            let own = try await threads(of: ann)
            #expect(own.count == bound)

            let room = try await node.curl.post("/v1/rooms", ["title": "Full"], as: bob)
            let refusals = [
                try await node.curl.post("/v1/rooms", ["title": "Full"], as: ann),
                try await node.curl.put(
                    "/v1/threads/\(room.json["id"].string ?? "")/members/me", ["status": "joined"], as: ann),
                try await node.curl.put("/v1/threads/\(bobs)/members/\(ann.id)", [:], as: bob),
                try await node.curl.put("/v1/threads/\(bobs)/members/\(ann.id)", ["status": "invited"], as: bob),
                try await node.curl.post("/v1/threads", ["kind": "direct", "members": [.string(ann.id)]], as: bob),
            ]
            for refusal in refusals {
                #expect(refusal.status == 422 && refusal.code == "too_many_threads", "\(refusal)")
            }
            // The answer names no other member.
            #expect(refusals.dropFirst(2).allSatisfy { !$0.text.contains(ann.id) && !$0.text.contains("Ann") })
            // Leaving makes room for one thread.
            let left = try #require(own.first { $0["me"]["status"].string == "joined" }?["id"].string)
            #expect(try await node.curl.delete("/v1/threads/\(left)/members/me", as: ann).status == 204)
            #expect(try await node.curl.post("/v1/rooms", ["title": "Full"], as: ann).status == 200)
            #expect(try await node.curl.post("/v1/threads", ["kind": "group"], as: ann).status == 422)
            try await node.stop()
        }

        @Test("an account that renames, edits and reacts as fast as possible does not delay others")
        func notice() async throws {
            let database = try await TestCluster.shared().createDatabase()
            let node = try await Node.start(database: database, settings: ["PARLEY_RATE_LIMITS": "on"])
            let others = try await OtherUsers.join(node)
            let bystanders = [try await node.curl.register("Gil"), try await node.curl.register("Ian")]
            let eve = try await Attacker(node, bystanders)
            let calls = writeCalls.filter { ["rename", "edit", "react and take it back"].contains($0.what) }
            let notice = try await others.notice(connectionCount: 6) { connection, lane in
                for number in 0..<10 { _ = try await calls[lane % calls.count].call(connection, eve, number) }
            }
            notice.expect("renaming, editing and reacting in a loop", ratioMax: 12)
            // The bucket, its refill during the attack, and the calls made before.
            let events = try await Psql.run(
                "select count(*) from events where thread_id = '\(eve.group)'", conninfo: database)
            #expect(Int(events) ?? 0 < 2 * 800, "\(events)")
            try await node.stop()
        }
    }
}
