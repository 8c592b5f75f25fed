// Which node delivers to an endpoint, from where, and what it records.
import Domain
import Postgres
import Store
import TestSupport
import Testing

@Suite("Leasing webhooks", .timeLimit(.minutes(1)))
struct LeasingWebhooks {
    private let database: String
    private let store: Store
    private let client: PostgresClient
    private let actor = AdminActor(name: "admin", requestID: nil)

    private static let ground =
        Psql.users(2) + """
            select from thread_create(p(1001), 'group', 'G', null, p(1), array[p(2)], false);
            create function say(id int) returns text language sql as $$
                select outcome from message_append(array[p(id)], array[p(1001)], array[p(1)], array['message'],
                    array['{"text":"hi"}']::json[], array[null]::uuid[], array['{}']) $$;
            """

    init() async throws {
        database = try await MigratedDatabase.create()
        try await Psql.run(Self.ground, conninfo: database)
        client = PostgresClient(test: database)
        store = Store(client)
    }

    private func make(types: [EventType]? = nil) async throws -> WebhookID {
        let new = NewWebhook(
            id: .make(), url: "https://a.example/", types: types, isThin: false, isOrdered: true,
            secret: Array(repeating: 7, count: 32))
        _ = try await store.createWebhook(new, countMax: 100, by: actor)
        return new.id
    }

    private func tend(_ node: String, held: [WebhookID] = [], limit: Int = 10) async throws -> [LeasedWebhook] {
        try await store.tendWebhooks(node: node, held: held, limit: limit, leaseSeconds: 25)
    }

    private func sql(_ query: String) async throws -> String {
        try await Psql.run(query, conninfo: database)
    }

    private func open(_ position: Int64, _ state: WebhookOutcomes.Open.State) -> WebhookOutcomes.Open {
        .init(
            OpenDelivery(
                position: Position(position), event: "evt_0_1_\(position)", thread: nil, atMs: 1_000,
                tryCount: state == .waiting ? 0 : 1, nextMs: state == .failed ? 2_000 : nil,
                status: state == .waiting ? nil : 500, reason: state == .waiting ? nil : "status"),
            state)
    }

    @Test("leases an endpoint to one node at a time, and to another one when the lease is over")
    func leases() async throws {
        let id = try await make()
        let first = try await tend("a")
        #expect(first.map(\.id) == [id] && first.first?.claim == 1)
        #expect(try await tend("b").isEmpty)
        #expect(try await tend("a", held: [id]) == first)
        _ = try await sql("update webhook_states set lease_until = now() + interval '9 s'")
        _ = try await tend("a", held: [id])
        #expect(try await sql("select lease_until > now() + interval '20 s' from webhook_states") == "t")
        // The node dies.
        _ = try await sql("update webhook_states set lease_until = now()")
        let second = try await tend("b")
        #expect(second.map(\.claim) == [2])
        #expect(try await tend("a", held: [id]).isEmpty)
        let place = try #require(try await store.openWebhook(id, claim: 2))
        #expect(try await store.openWebhook(id, claim: 1) == nil)
        #expect(try await !store.settleWebhook(id, claim: 1, revision: 1, cursor: place.cursor, WebhookOutcomes()))
        #expect(try await store.settleWebhook(id, claim: 2, revision: 1, cursor: place.cursor, WebhookOutcomes()))
        try await store.releaseWebhook(id, claim: 1)
        #expect(try await tend("a").isEmpty)
        try await store.releaseWebhook(id, claim: 2)
        #expect(try await tend("a").map(\.claim) == [3])
        await client.shutdown()
    }

    @Test("claims no more than asked for, and no disabled endpoint")
    func shares() async throws {
        var ids: [WebhookID] = []
        for _ in 0..<5 { ids.append(try await make()) }
        _ = try await store.updateWebhook(ids[4], WebhookChange(isEnabled: false), by: actor)
        #expect(try await tend("a", limit: 3).count == 3)
        #expect(try await tend("b", limit: 3).count == 1)
        #expect(try await tend("b", limit: 3).count == 1)
        _ = try await store.updateWebhook(ids[4], WebhookChange(isEnabled: true), by: actor)
        #expect(try await tend("b", limit: 3).count == 2)
        await client.shutdown()
    }

    @Test("records outcomes with the cursor, and lists them by state")
    func outcomes() async throws {
        let id = try await make()
        let claim = try #require(try await tend("a").first?.claim)
        var outcomes = WebhookOutcomes()
        outcomes.delivered = (10...12).map {
            .init(position: Position($0), event: "evt_0_1_\($0)", status: 204, tryCount: 1)
        }
        outcomes.open = [open(20, .failed), open(21, .waiting), open(22, .parked)]
        let cursor = Cursor(epoch: 1, position: Position(30))
        #expect(try await store.settleWebhook(id, claim: claim, revision: 1, cursor: cursor, outcomes))
        #expect(try await sql("select pos from webhook_states") == "30")
        #expect(
            try await store.openDeliveries(id, after: .start, limit: 10) == [
                open(20, .failed).delivery, open(21, .waiting).delivery,
            ])
        func list(_ state: WebhookDeliveryState?, limit: Int = 30) async throws -> [String] {
            try await store.webhookDeliveries(id, state: state, PageRequest(limit: limit)).items.map {
                let item = try JSONReader.read($0.utf8)
                return
                    "\(item["event_id"]?.string ?? "") \(item["state"]?.string ?? "") \(item["status"]?.integer ?? 0)"
            }
        }
        #expect(try await list(.delivered, limit: 2) == ["evt_0_1_12 delivered 204", "evt_0_1_11 delivered 204"])
        #expect(try await list(.failed) == ["evt_0_1_20 failed 500"])
        #expect(try await list(.parked) == ["evt_0_1_22 parked 500"])
        #expect(try await list(.pending) == ["evt_0_1_21 pending 0"])
        #expect(try await list(nil).count == 6)
        // The retry succeeds, and the waiting one is gone from the log.
        outcomes = WebhookOutcomes()
        outcomes.delivered = [.init(position: Position(20), event: "evt_0_1_20", status: 200, tryCount: 2)]
        outcomes.removed = [Position(21)]
        #expect(try await store.settleWebhook(id, claim: claim, revision: 1, cursor: cursor, outcomes))
        for state in [WebhookDeliveryState.failed, .pending] { #expect(try await list(state).isEmpty) }
        #expect(try await list(.delivered, limit: 1) == ["evt_0_1_20 delivered 200"])
        #expect(try await sql("select lost from webhook_states") == "1")
        await client.shutdown()
    }

    @Test("keeps the latest thousand deliveries, in one row a batch")
    func recent() async throws {
        let id = try await make()
        let claim = try #require(try await tend("a").first?.claim)
        for batch in 0..<15 {
            var outcomes = WebhookOutcomes()
            outcomes.delivered = (1...100).map { number in
                let position = Int64(batch * 100 + number)
                return .init(position: Position(position), event: "evt_0_1_\(position)", status: 200, tryCount: 1)
            }
            let cursor = Cursor(epoch: 1, position: Position(Int64(batch * 100 + 100)))
            #expect(try await store.settleWebhook(id, claim: claim, revision: 1, cursor: cursor, outcomes))
        }
        #expect(try await sql("select count(*), max(n), min(n) from webhook_batches") == "10|1500|600")
        #expect(try await sql("select count(*) from webhook_deliveries") == "0")
        await client.shutdown()
    }

    @Test("is disabled by a 410, and its events wait")
    func gone() async throws {
        let id = try await make()
        let claim = try #require(try await tend("a").first?.claim)
        let place = try #require(try await store.openWebhook(id, claim: claim))
        var outcomes = WebhookOutcomes()
        outcomes.isGone = true
        #expect(try await store.settleWebhook(id, claim: claim, revision: 1, cursor: place.cursor, outcomes))
        #expect(try await tend("a", held: [id]).isEmpty)
        let shown = try JSONReader.read(try await store.webhook(id).utf8)
        #expect(shown["enabled"] == .bool(false) && shown["disabled_reason"] == .string("gone"))
        _ = try await sql("select say(2001)")
        _ = try await store.updateWebhook(id, WebhookChange(isEnabled: true), by: actor)
        let again = try #require(try await tend("b").first)
        #expect(try await store.openWebhook(id, claim: again.claim)?.cursor == place.cursor)
        await client.shutdown()
    }

    /// The texts that a read returns, and up to where it read; nil if the node no longer has the endpoint as it knows it.
    ///
    /// - Parameter positions: counted from the cursor.
    private func read(
        _ webhook: LeasedWebhook, after cursor: Cursor, at positions: [Int64]? = nil
    ) async throws -> String? {
        let positions = positions.map { $0.map { Position(cursor.position.value + $0) } }
        switch try await store.changes(for: webhook, after: cursor, at: positions, limit: 100) {
        case .superseded: return nil
        case .read(.expired): return "expired"
        case .read(.part(let changes, let next, _)):
            return "\(changes.map(\.type)), \(next.position.value - cursor.position.value)"
        }
    }

    @Test("reads the log by the stored settings only: a node with former ones passes nothing")
    func revisions() async throws {
        let id = try await make(types: [.reactionUpdated])
        let first = try #require(try await tend("a").first)
        let place = try #require(try await store.openWebhook(id, claim: first.claim)).cursor
        _ = try await sql("select say(2001)")
        #expect(try await read(first, after: place) == "[], 1")
        let changes = [
            WebhookChange(types: [.messageCreated]), WebhookChange(url: "https://b.example/"),
            WebhookChange(isEnabled: false),
        ]
        var known = first
        for change in changes {
            _ = try await store.updateWebhook(id, change, by: actor)
            _ = try await sql("select say((random() * 1e9)::int)")
            #expect(try await read(known, after: place) == nil, "\(change)")
            #expect(try await read(known, after: place, at: [1]) == nil, "\(change)")
            // What was sent by the former settings is recorded.
            #expect(try await store.settleWebhook(id, claim: 1, revision: known.revision, cursor: place, .init()))
            known = try await tend("a", held: [id]).first ?? known
        }
        #expect(try await tend("a", held: [id]).isEmpty)
        _ = try await store.updateWebhook(id, WebhookChange(isEnabled: true), by: actor)
        known = try #require(try await tend("a").first)
        let opened = try #require(try await store.openWebhook(id, claim: known.claim))
        #expect(opened.cursor == place)
        let all = #"["message.created", "message.created", "message.created", "message.created"], 4"#
        #expect(try await read(known, after: place) == all)
        _ = try await store.rotateWebhook(id, secret: Array(repeating: 8, count: 32), bothSeconds: 60, by: actor)
        #expect(try await read(known, after: place) == nil)
        known = try #require(try await tend("a", held: [id]).first)
        #expect(try await read(known, after: place) == all)
        // The types that select nothing of a change stay as they are.
        _ = try await store.updateWebhook(id, WebhookChange(types: [.messageCreated]), by: actor)
        #expect(try await read(known, after: place) == all)
        _ = try await store.replayWebhook(id, from: .cursor(place), by: actor)
        #expect(try await read(known, after: place) == nil)
        try await store.deleteWebhook(id, by: actor)
        #expect(try await read(known, after: place) == nil)
        await client.shutdown()
    }

    @Test("reads the events at some positions, whatever their types, without those that the log does not have")
    func positions() async throws {
        let id = try await make(types: [.reactionUpdated])
        let webhook = try #require(try await tend("a").first)
        let place = try #require(try await store.openWebhook(id, claim: webhook.claim)).cursor
        _ = try await sql("select say(2001), say(2002), say(2003)")
        let start = place.position.value
        let positions = [3, 1, 4, 900].map { Position(start + $0) }
        guard
            case .read(.part(let changes, let next, _)) = try await store.changes(
                for: webhook, after: place, at: positions)
        else {
            Issue.record("the read is refused")
            return
        }
        #expect(Set(changes.map(\.id.position.value)) == [start + 1, start + 3] && next == place)
        // A cursor whose place the log no longer has: the node asks the database where to continue.
        _ = try await sql("insert into log_trims (end_pos, partition, begun_at) values (\(start + 3), 'x', now())")
        guard case .read(.expired) = try await store.changes(for: webhook, after: place, at: positions) else {
            Issue.record("the cursor counts as kept")
            return
        }
        await client.shutdown()
    }

    @Test("is not disabled by a 410 of an address that it no longer has")
    func goneBefore() async throws {
        let id = try await make()
        let before = try #require(try await tend("a").first)
        let place = try #require(try await store.openWebhook(id, claim: before.claim))
        _ = try await store.updateWebhook(id, WebhookChange(url: "https://b.example/"), by: actor)
        var outcomes = WebhookOutcomes()
        outcomes.isGone = true
        func settle(_ webhook: LeasedWebhook) async throws -> Bool {
            try await store.settleWebhook(
                id, claim: webhook.claim, revision: webhook.revision, cursor: place.cursor, outcomes)
        }
        #expect(try await settle(before))
        let after = try #require(try await tend("a", held: [id]).first)
        #expect(after.target.url == "https://b.example/" && after.claim == before.claim)
        #expect(try await settle(after))
        #expect(try await tend("a", held: [id]).isEmpty)
        await client.shutdown()
    }

    @Test("moves back for a replay, which ends the claim and forgets what waited after that point")
    func replays() async throws {
        let id = try await make()
        let claim = try #require(try await tend("a").first?.claim)
        let place = try #require(try await store.openWebhook(id, claim: claim))
        _ = try await sql("select say(2001), say(2002), say(2003)")
        let head = Int64(try await sql("select log_head()")) ?? 0
        var outcomes = WebhookOutcomes()
        outcomes.open = [open(head - 2, .failed), open(head, .parked)]
        let cursor = Cursor(epoch: place.cursor.epoch, position: Position(head))
        #expect(try await store.settleWebhook(id, claim: claim, revision: 1, cursor: cursor, outcomes))
        let target = Cursor(epoch: cursor.epoch, position: Position(head - 1))
        _ = try await store.replayWebhook(id, from: .cursor(target), by: actor)
        #expect(try await !store.settleWebhook(id, claim: claim, revision: 1, cursor: cursor, WebhookOutcomes()))
        let next = try #require(try await tend("b").first?.claim)
        #expect(try await store.openWebhook(id, claim: next)?.cursor == target)
        #expect(try await store.openDeliveries(id, after: .start, limit: 10).map(\.position.value) == [head - 2])
        #expect(try await sql("select count(*) from webhook_deliveries where state = 2") == "0")
        await #expect(throws: Problem.self) {
            try await store.replayWebhook(
                id, from: .cursor(Cursor(epoch: 1_000_000, position: Position(1))), by: actor)
        }
        await client.shutdown()
    }

    @Test("counts what the log has dropped, and continues behind it")
    func trimmed() async throws {
        let id = try await make()
        let claim = try #require(try await tend("a").first?.claim)
        let place = try #require(try await store.openWebhook(id, claim: claim))
        var outcomes = WebhookOutcomes()
        outcomes.open = [open(1, .failed), open(2, .parked)]
        #expect(try await store.settleWebhook(id, claim: claim, revision: 1, cursor: place.cursor, outcomes))
        let end = place.cursor.position.value + 6
        _ = try await sql("insert into log_trims (end_pos, partition, begun_at) values (\(end), 'x', now())")
        _ = try await sql("select say(2001), say(2002), say(2003), say(2004), say(2005), say(2006), say(2007)")
        let opened = try #require(try await store.openWebhook(id, claim: claim))
        #expect(opened.cursor.position.value == end - 1)
        // Five positions, and the failed one.
        #expect(opened.droppedCount == 6)
        #expect(try await sql("select count(*) from webhook_deliveries") == "0")
        #expect(try JSONReader.read(try await store.webhook(id).utf8)["lost_events"]?.integer == 6)
        #expect(try await store.openWebhook(id, claim: claim)?.droppedCount == 0)
        await client.shutdown()
    }

    @Test("continues where the log lost its tail")
    func lostTail() async throws {
        let id = try await make()
        _ = try await sql("select say(2001), say(2002), say(2003)")
        let claim = try #require(try await tend("a").first?.claim)
        let epoch = Int32(try await sql("select log_epoch()")) ?? 0
        let head = Int64(try await sql("select log_head()")) ?? 0
        var outcomes = WebhookOutcomes()
        outcomes.open = [open(head, .failed), open(head - 2, .failed)]
        let cursor = Cursor(epoch: epoch, position: Position(head))
        #expect(try await store.settleWebhook(id, claim: claim, revision: 1, cursor: cursor, outcomes))
        _ = try await sql("delete from events where pos >= \(head); select log_open_epoch(\(head)); select say(2004)")
        let opened = try #require(try await store.openWebhook(id, claim: claim))
        #expect(opened.cursor.position.value == head - 1 && opened.cursor.epoch > epoch)
        #expect(try await store.openDeliveries(id, after: .start, limit: 10).map(\.position.value) == [head - 2])
        await client.shutdown()
    }
}
