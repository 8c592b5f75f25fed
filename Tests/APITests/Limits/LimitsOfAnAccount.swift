// Writes are limited by account, strangers are counted by person on all nodes, and threads have a maximum.
import Domain
import ServiceConfiguration
import TestSupport
import Testing

/// A person who owns a group with a message of their own, and has used no token but that of the message.
private struct Writer: Sendable {
    let person: Person
    let group: String
    let message: String
    /// A person whom the calls invite.
    let invited: Person

    /// - Parameter owner: creates the group, so that no call of the writer is counted for that.
    init(_ node: TestNode, invited: Person) async throws {
        person = try await .make("Eve", port: node.port)
        let owner = try await Person.make("Owner", port: node.port)
        group = "/v1/threads/\(try await owner.group(with: [person]))"
        let role = try await owner.client.put("\(group)/members/\(person.id)", #"{"role":"owner"}"#)
        try #require(role.status == 200, "\(role.text)")
        message = try await person.client.post("\(group)/messages", #"{"payload":{"text":"hello"}}"#).string("id")
        self.invited = invited
    }

    func send() async throws -> Reply {
        try await person.client.post("\(group)/messages", #"{"payload":{"text":"hello"}}"#)
    }

    func react(_ emoji: String) async throws -> Reply {
        try await person.client.put("\(group)/messages/\(message)/reactions/\(emoji)")
    }
}

/// A limited call. The tests repeat it, and count the rounds.
private struct LimitedCall: Sendable, CustomTestStringConvertible {
    let what: String
    /// The limit that stops the call.
    let limit: RateLimit
    let call: @Sendable (Client, Writer, _ round: Int) async throws -> Reply

    var testDescription: String { what }

    init(
        _ what: String, _ limit: RateLimit,
        _ call: @escaping @Sendable (Client, Writer, _ round: Int) async throws -> Reply
    ) {
        (self.what, self.limit, self.call) = (what, limit, call)
    }
}

@Suite("Limits of an account", .serialized, .timeLimit(.minutes(1)))
struct LimitsOfAnAccount {
    /// A node with small quotas a minute.
    private static let node = Task {
        try await TestNode { settings in
            settings.rateLimitsEnabled = true
            for limit in [
                RateLimit.typingOfAccount, .receiptsOfAccount, .threadsOfAccount, .profileChangesOfAccount,
                .directoryOfAccount,
            ] { settings.rateQuotas[limit] = 2 }
            // Rooms and profiles count as writes, too, but their own bucket is to stop them.
            settings.rateQuotas[.writesOfAccount] = 4
        }
    }

    private static let calls = [
        LimitedCall("rename", .writesOfAccount) { try await $0.patch($1.group, #"{"title":"T \#($2)"}"#) },
        LimitedCall("edit", .writesOfAccount) {
            try await $0.patch("\($1.group)/messages/\($1.message)", #"{"payload":{"text":"edit \#($2)"}}"#)
        },
        LimitedCall("react and take it back", .writesOfAccount) {
            try await $0.send(
                $2 % 2 == 0 ? "PUT" : "DELETE", "\($1.group)/messages/\($1.message)/reactions/%F0%9F%91%8D")
        },
        LimitedCall("invite and withdraw", .writesOfAccount) {
            let path = "\($1.group)/members/\($1.invited.id)"
            return $2 % 2 == 0 ? try await $0.put(path, #"{"status":"invited"}"#) : try await $0.delete(path)
        },
        LimitedCall("settings", .writesOfAccount) {
            try await $0.patch("\($1.group)/settings", #"{"pinned":\#($2 % 2 == 0)}"#)
        },
        LimitedCall("typing", .typingOfAccount) { client, writer, _ in try await client.put("\(writer.group)/typing") },
        LimitedCall("receipts", .receiptsOfAccount) { client, writer, _ in
            try await client.put("\(writer.group)/receipts", #"{"read":1}"#)
        },
        LimitedCall("new rooms", .threadsOfAccount) { client, _, _ in
            try await client.post("/v1/rooms", #"{"title":"Room \#(ThreadID.make())"}"#)
        },
        LimitedCall("profile", .profileChangesOfAccount) { client, _, round in
            try await client.patch("/v1/users/me", #"{"name":"Eve \#(round)"}"#)
        },
        LimitedCall("directory", .directoryOfAccount) { client, _, _ in try await client.get("/v1/users?query=eve") },
    ]

    @Test("stop a call with 429 when its bucket is empty, and let sends continue", arguments: calls)
    private func buckets(_ row: LimitedCall) async throws {
        let node = try await Self.node.value
        // A new account for each call: the bucket of one call must not be what stops the next.
        let writer = try await Writer(node, invited: try await .make("Ian", port: node.port))
        let quota = row.limit == .writesOfAccount ? 4 : 2
        let clock = ContinuousClock()
        let began = clock.now
        var (acceptedCount, refusal): (Int, Reply?) = (0, nil)
        for round in 0..<100 where refusal == nil {
            let reply = try await row.call(writer.person.client, writer, round)
            if reply.status == 429 {
                refusal = reply
            } else {
                #expect((200..<300).contains(reply.status), "\(reply.text)")
                acceptedCount += 1
            }
        }
        // Tokens that have come back meanwhile: on a quick machine none.
        let refilledCount = Int(began.duration(to: clock.now) / .seconds(60 / quota))
        #expect((quota...quota + refilledCount).contains(acceptedCount), "\(acceptedCount)")
        let reply = try #require(refusal, "the call is not limited")
        #expect(reply.problemCode == "rate_limited" && reply.headers["retry-after"] != nil)
        #expect(reply.headers["ratelimit"]?.hasPrefix("\"\(row.limit.name)\";r=0;t=") == true, "\(reply.headers)")
        #expect(reply.headers["ratelimit-policy"] == "\"\(row.limit.name)\";q=\(quota);w=60")
        #expect(try await writer.send().status == 201)
    }

    @Test("count a call for several threads once for each, and a change by the members that it reaches")
    func weights() async throws {
        let node = try await Self.node.value
        let writer = try await Writer(node, invited: try await .make("Ian", port: node.port))
        let mark = #"{"thread_id":"\#(writer.group.split(separator: "/")[2])","read":1}"#
        #expect(
            try await writer.person.client.post("/v1/receipts", #"{"receipts":[\#(mark),\#(mark)]}"#).status == 204)
        #expect(try await writer.person.client.put("\(writer.group)/receipts", #"{"read":1}"#).status == 429)

        // With 300 members, a reaction costs the 4 tokens of a minute: 1 for the call, and 1 for each 100 members.
        try await Psql.run(
            "update threads set member_count = 300 where id = '\(writer.group.split(separator: "/")[2])'",
            conninfo: node.database)
        #expect(try await writer.react("%F0%9F%91%8D").status == 204)
        #expect(try await writer.react("%F0%9F%8E%89").status == 429)
    }

    /// Two nodes on one database, which share what the service counts.
    private static let pair = Task {
        @Sendable func limit(_ settings: inout Settings) {
            settings.rateLimitsEnabled = true
            settings.rateQuotas[.threadsOfAccount] = 8
            settings.rateQuotas[.dailyThreadsOfAccount] = 6
            settings.rateQuotas[.strangersOfAccount] = 5
        }
        let first = try await TestNode(limit)
        return [first, try await TestNode(on: first.database, limit)]
    }

    @Test("do not count a thread that exists as a new one, neither for the minute nor for the day")
    func existingThreads() async throws {
        let nodes = try await Self.pair.value
        let (ann, bob) = (
            try await Person.make("Ann", port: nodes[0].port), try await Person.make("Bob", port: nodes[0].port)
        )
        let clients = nodes.map { Client(port: $0.port, token: ann.client.token) }
        let direct = #"{"kind":"direct","members":["\#(bob.id)"]}"#
        let room = #"{"title":"Room \#(ThreadID.make())"}"#
        // More calls than the quota of a minute, and than that of a day.
        for round in 0..<6 {
            let opened = try await clients[0].post("/v1/threads", direct)
            let joined = try await clients[0].post("/v1/rooms", room)
            let expected = round == 0 ? 201 : 200
            #expect(opened.status == expected && joined.status == expected, "\(opened.text) \(joined.text)")
        }
        for round in 0..<4 {
            #expect(try await clients[round % 2].post("/v1/threads", #"{"kind":"group"}"#).status == 201)
        }
        for client in clients {
            let refused = try await client.post("/v1/threads", #"{"kind":"group"}"#)
            #expect(refused.status == 429 && refused.problemCode == "rate_limited", "\(refused.text)")
            #expect(refused.headers["ratelimit-policy"] == #""account-threads-daily";q=6;w=86400"#)
            #expect(try await client.post("/v1/threads", direct).status == 200)
        }
    }

    @Test("count each stranger once on all nodes together, and nobody who shares a thread with the account")
    func strangers() async throws {
        let nodes = try await Self.pair.value
        var people: [Person] = []
        for number in 0..<8 { people.append(try await .make("P\(number)", port: nodes[0].port)) }
        let ann = people[0]
        let (a, b) = (ann.client, Client(port: nodes[1].port, token: ann.client.token))
        func group(with others: ArraySlice<Person>, by client: Client) async throws -> Reply {
            let ids = others.map { "\"\($0.id)\"" }.joined(separator: ",")
            return try await client.post("/v1/threads", #"{"kind":"group","title":"G","members":[\#(ids)]}"#)
        }
        // Three of five, and then the same three, who are no longer strangers.
        let made = try await group(with: people[1...3], by: a)
        #expect(made.status == 201, "\(made.text)")
        #expect(try await group(with: people[1...3], by: b).status == 201)
        // Three more are refused as a whole.
        let refused = try await group(with: people[3...6], by: b)
        #expect(refused.status == 429, "\(refused.text)")
        #expect(refused.headers["ratelimit-policy"] == #""account-strangers";q=5;w=86400"#)
        #expect(Int(refused.headers["retry-after"] ?? "") ?? 0 > 3_600)
        // A direct thread and an invitation use the last two. An attempt at a person who has blocked Ann uses none.
        #expect(try await people[7].client.put("/v1/users/me/blocks/\(ann.id)").status == 204)
        #expect(try await group(with: people[7...7], by: a).status == 403)
        _ = try await ann.direct(with: people[4])
        let members = "/v1/threads/\(try made.string("id"))/members"
        #expect(try await b.put("\(members)/\(people[5].id)", #"{"status":"invited"}"#).status == 200)
        #expect(try await b.put("\(members)/\(people[6].id)", "{}").status == 429)
        #expect(try await a.put("\(members)/\(people[4].id)", "{}").status == 200)
        // A person who writes to the account is no stranger.
        _ = try await people[6].direct(with: ann)
        #expect(try await b.put("\(members)/\(people[6].id)", "{}").status == 200)
        for (node, count) in zip(nodes, [0, 2]) {
            let metrics = try await Client(port: node.port).get("/metrics").text
            #expect(metrics.contains("parley_rate_limited_total{limit=\"accountStrangers\"} \(count)\n"))
        }
    }

    @Test("count people who share only rooms as strangers: anybody may join a room")
    func roommates() async throws {
        let nodes = try await Self.pair.value
        var people: [Person] = []
        for number in 0..<7 { people.append(try await .make("R\(number)", port: nodes[0].port)) }
        let room = try await people[1].client.post("/v1/rooms", #"{"title":"Room \#(ThreadID.make())"}"#)
        let path = "/v1/threads/\(try room.string("id"))/members/me"
        for person in people {
            #expect(try await person.client.put(path, #"{"status":"joined"}"#).status == 200)
        }
        let ids = people.dropFirst().map { "\"\($0.id)\"" }.joined(separator: ",")
        let refused = try await people[0].client.post("/v1/threads", #"{"kind":"group","members":[\#(ids)]}"#)
        #expect(refused.status == 429 && refused.problemCode == "rate_limited", "\(refused.text)")
        #expect(refused.headers["ratelimit-policy"] == #""account-strangers";q=5;w=86400"#)

        let inviting = try await TestNode { $0.limits.strangers = .invite }
        let (ann, bob) = (
            try await Person.make("Ann", port: inviting.port), try await Person.make("Bob", port: inviting.port)
        )
        let hall = try await ann.client.post("/v1/rooms", #"{"title":"Hall"}"#)
        let joined = try await bob.client.put(
            "/v1/threads/\(try hall.string("id"))/members/me", #"{"status":"joined"}"#)
        #expect(joined.status == 200)
        let group = try await ann.group(with: [bob])
        #expect(try await bob.client.get("/v1/threads/\(group)").string("me.status") == "invited")
    }

    @Test(
        "are no matter of invitations: where the settings say so, every call invites strangers instead of adding them")
    func invitations() async throws {
        let node = try await TestNode { $0.limits.strangers = .invite }
        let (ann, bob) = (
            try await Person.make("Ann", port: node.port), try await Person.make("Bob", port: node.port)
        )
        let cid = try await Person.make("Cid", port: node.port)
        func status(of person: Person, in thread: String) async throws -> String {
            try await person.client.get("/v1/threads/\(thread)").string("me.status")
        }
        let direct = try await ann.direct(with: bob)
        #expect(try await status(of: bob, in: direct) == "invited")
        // An invitation without an answer does not make people acquainted.
        let group = try await ann.group(with: [bob])
        #expect(try await status(of: bob, in: group) == "invited")
        let added = try await ann.client.put("/v1/threads/\(group)/members/\(cid.id)", #"{"status":"joined"}"#)
        #expect(try added.string("status") == "invited")
        try await ann.say("hello?", in: direct)
        #expect(
            try await bob.client.put("/v1/threads/\(direct)/members/me", #"{"status":"joined"}"#).status == 200)
        // From now on Ann and Bob share a thread.
        let mixed = try await ann.group(with: [bob, cid])
        #expect(try await status(of: bob, in: mixed) == "joined")
        #expect(try await status(of: cid, in: mixed) == "invited")
        let threads = try await cid.client.get("/v1/inbox")["threads"]?.array ?? []
        #expect(threads.count == 2 && threads.allSatisfy { $0["me"]?["invited_by"]?["id"]?.string == ann.id })
    }

    @Test("let an account exceed its number of threads by no call, even with concurrent calls")
    func threadCount() async throws {
        let bound = 6
        let node = try await TestNode { $0.limits.accountThreadCountMax = bound }
        let (ann, bob) = (
            try await Person.make("Ann", port: node.port), try await Person.make("Bob", port: node.port)
        )
        let bobs = "/v1/threads/\(try await bob.group())/members"
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<2 * bound {
                group.addTask {
                    let room = #"{"title":"Room \#(ThreadID.make())"}"#
                    return number % 2 == 0
                        ? try await ann.client.post("/v1/rooms", room).status
                        : try await ann.client.post("/v1/threads", #"{"kind":"group"}"#).status
                }
            }
            // Bob has a maximum, too.
            for number in 0..<2 {
                let body = #"{"kind":"group","members":["\#(ann.id)"],"invite":\#(number == 0)}"#
                group.addTask { try await bob.client.post("/v1/threads", body).status }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(statuses) == [201, 422], "\(statuses)")
        let own = try await ann.client.get("/v1/inbox?limit=200")["threads"]?.array ?? []
        #expect(own.count == bound)

        let full = #"{"title":"Full"}"#
        let room = try await bob.client.post("/v1/rooms", full).string("id")
        let refusals = [
            try await ann.client.post("/v1/rooms", full),
            try await ann.client.put("/v1/threads/\(room)/members/me", #"{"status":"joined"}"#),
            try await bob.client.put("\(bobs)/\(ann.id)", "{}"),
            try await bob.client.put("\(bobs)/\(ann.id)", #"{"status":"invited"}"#),
            try await bob.client.post("/v1/threads", #"{"kind":"direct","members":["\#(ann.id)"]}"#),
        ]
        for refusal in refusals {
            #expect(refusal.status == 422 && refusal.problemCode == "too_many_threads", "\(refusal.text)")
        }
        // The answer names no other member.
        #expect(refusals.dropFirst(2).allSatisfy { !$0.text.contains(ann.id) && !$0.text.contains("Ann") })
        // Leaving makes room for one thread.
        let left = try #require(own.first { $0["me"]?["status"]?.string == "joined" }?["id"]?.string)
        #expect(try await ann.client.delete("/v1/threads/\(left)/members/me").status == 204)
        #expect(try await ann.client.post("/v1/rooms", full).status == 200)
        #expect(try await ann.client.post("/v1/threads", #"{"kind":"group"}"#).status == 422)
    }
}
