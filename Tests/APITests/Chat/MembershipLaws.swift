// Invariants of a thread's members that hold after any calls, also concurrent ones.
import Domain
import TestSupport
import Testing

@Suite("Membership invariants", .timeLimit(.minutes(1)))
struct MembershipLaws {
    /// Makes one random change as a person.
    private static func change(
        _ thread: String, by person: Person, of people: [Person], _ random: inout SplitMix64
    ) async throws -> Reply {
        let path = "/v1/threads/\(thread)/members"
        let other = people[random.below(people.count)].id
        switch random.below(8) {
        case 0: return try await person.client.delete("\(path)/me")
        case 1: return try await person.client.delete("\(path)/\(other)")
        case 2: return try await person.client.put("\(path)/\(other)", #"{"status":"invited"}"#)
        case 3: return try await person.client.put("\(path)/\(other)", #"{"role":"owner"}"#)
        case 4: return try await person.client.put("\(path)/\(other)", #"{"role":"member"}"#)
        case 5: return try await person.client.put("\(path)/me", #"{"role":"member"}"#)
        case 6: return try await person.client.put("\(path)/\(other)")
        default: return try await person.client.put("\(path)/me", #"{"status":"joined"}"#)
        }
    }

    @Test(
        "a thread with members has an owner and a right count, and each member gets its events from joining to leaving",
        arguments: ["group", "room"])
    func holdUnderLoad(_ kind: String) async throws {
        var people: [Person] = []
        for number in 0..<6 { people.append(try await Person.make("P\(number)")) }
        let title = "Law \(UserID.make().description.suffix(12))"
        let made = try await people[0].client.post("/v1/threads", #"{"kind":"\#(kind)","title":"\#(title)"}"#)
        let thread = try made.string("id")
        for person in people.dropFirst() {
            #expect(try await people[0].client.put("/v1/threads/\(thread)/members/\(person.id)").status == 200)
        }
        let everyone = people
        var seeds = SplitMix64(freshFor: "changes of members under load")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for person in everyone {
                let seed = seeds.next()
                group.addTask {
                    var random = SplitMix64(seed: seed)
                    for _ in 0..<60 {
                        let reply = try await Self.change(thread, by: person, of: everyone, &random)
                        #expect(reply.status < 500, "\(reply.text)")
                    }
                }
            }
            try await group.waitForAll()
        }
        let found = try await Psql.run(
            """
            select t.member_count = count(*) filter (where m.status = 'joined'),
                count(*) filter (where m.status = 'joined') = 0
                    or count(*) filter (where m.status = 'joined' and m.role = 'owner') > 0,
                bool_and((m.status = 'joined') = exists (select from membership_spans s
                    where s.thread_id = m.thread_id and s.user_id = m.user_id and s.to_pos is null)),
                bool_and(m.role = 'member' or m.status in ('joined', 'invited'))
            from threads t join members m on m.thread_id = t.id where t.id = '\(thread)' group by t.id;
            select count(*) = coalesce(max(seq), 0), count(*) = count(distinct id), count(*) >= 5 from messages
            where thread_id = '\(thread)';
            select count(*) from membership_spans a join membership_spans b using (thread_id, user_id)
            where a.thread_id = '\(thread)' and a.from_pos < b.from_pos and coalesce(a.to_pos, b.from_pos) >= b.from_pos;
            select count(*) from thread_counts c where c.count <> thread_count_of(c.user_id)
                and c.user_id in (select m.user_id from members m where m.thread_id = '\(thread)');
            """, conninfo: TestNode.shared().database)
        #expect(found == "t|t|t|t\nt|t|\(kind == "group" ? "t" : "f")\n0\n0")
    }

    @Test("in a thread of more than 100, only owners, admins and the person concerned get membership events")
    func tellsFew() async throws {
        let (ann, bob, cid) = (try await Person.make("Ann"), try await Person.make("Bob"), try await Person.make("Cid"))
        let thread = try await ann.group(with: [bob])
        try await ann.fill(thread, count: 100, status: "joined")
        var cursors: [String] = []
        for person in [ann, bob, cid] { cursors.append(try await person.client.get("/v1/sync").string("cursor")) }
        _ = try await ann.client.put("/v1/threads/\(thread)/members/\(cid.id)")
        let expected = [
            ["member.updated", "message.created"], ["message.created"],
            ["thread.created", "member.updated", "message.created"],
        ]
        for (index, person) in [ann, bob, cid].enumerated() {
            let reply = try await person.client.get("/v1/sync?cursor=\(cursors[index])&wait=0")
            #expect(reply["events"]?.array?.compactMap { $0["type"]?.string } == expected[index])
            #expect(index < 2 || reply["events.0.data.members"] == .array([]))
        }
    }

    @Test("inviting many people costs one event each, and no event lists them all")
    func invitesMany() async throws {
        let ann = try await Person.make("Ann")
        var ids: [String] = []
        for _ in 0..<5 { ids.append(try await Person.make().id) }
        let named = ids.map { "\"\($0)\"" }.joined(separator: ",")
        let made = try await ann.client.post(
            "/v1/threads", #"{"kind":"group","title":"G","members":[\#(named)],"invite":true}"#)
        let found = try await Psql.run(
            """
            select user_id is not null, count(*), bool_or(body like '%' || '\(ids[0])' || '%') from events
            where thread_id = '\(made.string("id"))' group by 1 order by 1
            """, conninfo: TestNode.shared().database)
        #expect(found == "f|1|t\nt|5|f")
    }
}
