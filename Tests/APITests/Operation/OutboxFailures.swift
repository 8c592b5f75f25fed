// /v1/admin/outbox: what was sent by SQL and refused after its commit.
import Domain
import TestSupport
import Testing

@Suite("Failures of the outbox, for operators", .timeLimit(.minutes(1)))
struct OutboxFailures {
    @Test("are listed by page, retried and deleted")
    func calls() async throws {
        let node = try await TestNode.shared()
        let admin = try await Client(token: TestNode.adminToken)
        let ann = try await Person.make("Ann")
        let thread = try await ann.client.post("/v1/threads", #"{"kind":"group"}"#).string("id")
        try await Psql.run(
            """
            insert into outbox (kind, thread_id, user_id, message_id, payload)
            select 'send', '\(ThreadID.make())', '\(ann.id)', gen_random_uuid(), json_build_object('text', 'm' || n)
            from generate_series(1, 3) n;
            insert into outbox (kind, thread_id, user_id) values ('add_member', '\(ThreadID.make())', '\(ann.id)');
            """, conninfo: node.database)
        while try await node.store.pumpOutbox(limit: 100, limits: Limits()).handledCount > 0 {}

        let path = "/v1/admin/outbox/failures"
        let first = try await admin.get(path + "?limit=2")
        #expect(first.status == 200 && first["failures"]?.array?.count == 2 && first["limit"]?.integer == 2)
        let entry = try #require(first["failures"]?.array?.first)
        #expect(entry["kind"]?.string == "add_member" && entry["code"]?.string == "thread_not_found")
        #expect(entry["user_id"]?.string == ann.id && entry["payload"] == .null && entry["message_id"] == .null)
        let second = try await admin.get(path + "?limit=2&page=" + first.string("next"))
        #expect(second["failures"]?.array?.count == 2 && second["next"] == nil)
        #expect(second["failures"]?.array?.last?["payload"]?["text"]?.string == "m1")
        let ids = [first, second].flatMap { $0["failures"]?.array ?? [] }.compactMap { $0["id"]?.string }
        #expect(Set(ids).count == 4)

        // What was wrong is put right; then it is tried again.
        try await Psql.run(
            "update outbox_failures set thread_id = '\(thread)' where id = '\(ids[3])'", conninfo: node.database)
        #expect(try await admin.post(path + "/\(ids[3])/retry").status == 204)
        #expect(try await admin.post(path + "/\(ids[3])/retry").problemCode == "failure_not_found")
        while try await node.store.pumpOutbox(limit: 100, limits: Limits()).handledCount > 0 {}
        let page = try await ann.client.get("/v1/threads/\(thread)/messages")
        #expect(page["messages"]?.array?.map { $0["payload"]?["text"]?.string } == ["m1"])
        for id in ids.prefix(3) { #expect(try await admin.send("DELETE", path + "/" + id).status == 204) }
        #expect(try await admin.send("DELETE", path + "/" + ids[0]).problemCode == "failure_not_found")
        #expect(try await admin.get(path)["failures"]?.array?.isEmpty == true)
        let actions = try await admin.get("/v1/admin/audit?limit=4")["entries"]?.array ?? []
        #expect(
            actions.map { $0["action"]?.string }
                == ["outbox.delete", "outbox.delete", "outbox.delete", "outbox.retry"])
    }

    @Test("refuse what is not valid")
    func refusals() async throws {
        let admin = try await Client(token: TestNode.adminToken)
        let path = "/v1/admin/outbox/failures"
        for query in ["?limit=0", "?limit=201", "?page=x", "?state=open"] {
            #expect(try await admin.get(path + query).status == 422, "\(query)")
        }
        #expect(try await admin.post(path + "/x/retry").problemCode == "failure_not_found")
        #expect(try await admin.post(path + "/\(UserID.make())/retry", #"{"now":true}"#).status == 422)
        let ann = try await Person.make("Ann")
        #expect(try await ann.client.get(path).problemCode == "invalid_token")
    }
}
