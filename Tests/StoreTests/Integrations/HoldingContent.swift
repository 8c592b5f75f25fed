// Legal holds: each way in which content leaves a message keeps it first, and the release erases it.
import Domain
import Store
import TestSupport
import Testing

@Suite("Holding content", .timeLimit(.minutes(1)))
struct HoldingContent {
    @Test("every removal keeps what a hold of the thread or of the sender covers", arguments: Removal.allCases)
    func removals(_ removal: Removal) async throws {
        for ofThread in [true, false] {
            try await HoldDatabase.run { database in
                let message = try await database.base.send([], to: database.thread, by: database.ann, text: "secret")
                let hold = try await database.hold(ofThread ? .thread(database.thread) : .user(database.ann))
                try await database.remove(message, by: removal)
                let shown = try await database.base.message(message, in: database.thread, for: database.ben)
                #expect(!shown.contains("secret"))
                #expect(try await database.kept() == ["1 0 \(removal.name) secret"], "\(removal)")
                try await database.release(hold)
                #expect(try await database.sql("select count(*) from held_contents") == "0")
                #expect(try await database.sql("select count(*) from held_users") == "0")
            }
        }
    }

    @Test("no removal keeps anything without a hold, or with one of others", arguments: Removal.allCases)
    func withoutHold(_ removal: Removal) async throws {
        try await HoldDatabase.run { database in
            let other = try await database.base.thread(of: database.ben)
            let message = try await database.base.send([], to: database.thread, by: database.ann, text: "secret")
            let former = try await database.hold(.thread(database.thread))
            try await database.release(former)
            try await database.hold(.thread(other))
            try await database.hold(.user(database.ben))
            try await database.remove(message, by: removal)
            #expect(try await database.sql("select count(*) from held_contents") == "0")
        }
    }

    @Test("all versions are kept, those from before the hold with the removal, and those that edits drop")
    func versions() async throws {
        try await HoldDatabase.run { database in
            let message = try await database.base.send([], to: database.thread, by: database.ann, text: "v0")
            func edit(_ range: ClosedRange<Int>) async throws {
                try await database.sql(
                    """
                    select length(message_edit('\(database.ann)', '\(database.thread)', '\(message)',
                        json_build_object('text', 'v' || i)))
                    from generate_series(\(range.lowerBound), \(range.upperBound)) i
                    """)
            }
            try await edit(1...102)
            let hold = try await database.hold(.user(database.ann))
            #expect(try await database.kept() == [])
            // Drops versions 2 and 3, which are older than the hold.
            try await edit(103...104)
            #expect(
                Set(try await database.kept()).isSuperset(of: [
                    "1 102 edited v102", "1 103 edited v103", "1 2 edited v2",
                ]))
            try await database.remove(message, by: .deletion)
            let kept = try await database.kept()
            // Version 1 was dropped before the hold.
            #expect(Set(kept).count == 104 && kept.last == "1 104 deleted v104")
            #expect(kept.contains("1 0 edited v0") && !kept.contains("1 1 edited v1"))
            try await database.release(hold)
            #expect(try await database.kept() == [])
        }
    }

    @Test("a release keeps what another hold covers, also a later one")
    func twoHolds() async throws {
        try await HoldDatabase.run { database in
            let (ann, ben, thread) = (database.ann, database.ben, database.thread)
            let ofAnn = try await database.hold(.user(ann))
            var messages: [MessageID] = []
            for (sender, text) in [(ann, "a"), (ben, "b"), (ann, "c")] {
                messages.append(try await database.base.send([], to: thread, by: sender, text: text))
            }
            try await database.remove(messages[0], by: .deletion)
            let ofThread = try await database.hold(.thread(thread))
            for message in messages.dropFirst() { try await database.remove(message, by: .adminRemoval) }
            #expect(try await database.kept() == ["1 0 deleted a", "2 0 deleted b", "3 0 deleted c"])
            try await database.release(ofThread)
            #expect(try await database.kept() == ["1 0 deleted a", "3 0 deleted c"])
            let again = try await database.hold(.thread(thread))
            try await database.release(ofAnn)
            #expect(try await database.kept() == ["1 0 deleted a", "3 0 deleted c"])
            try await database.release(again)
            #expect(try await database.kept() == [])
            let states = try await database.sql("select count(*) from holds where erased_at >= released_at")
            #expect(states == "3")
        }
    }

    @Test("the names of an erased account stay, and a system message before a name leaves it")
    func erasedNames() async throws {
        try await HoldDatabase.run { database in
            let hold = try await database.hold(.thread(database.thread))
            try await database.base.send([], to: database.thread, by: database.ann)
            let cal = try await database.base.user()
            _ = try await database.sql(
                "select from member_put('\(database.ann)', '\(database.thread)', '\(cal)', null, 'joined', 9, 9)")
            try await database.sql(
                "update users set name = 'Annabel', external_id = 'e-7' where id = '\(database.ann)'")
            try await database.remove(MessageID.make(), by: .erasure)
            #expect(try await database.sql("select name, external_id from held_users") == "Annabel|e-7")
            let page = try await database.base.store.heldContents(hold, after: 0, limit: 10, by: HoldDatabase.admin)
            let texts = page.items.map { String(decoding: $0.utf8, as: UTF8.self) }
            #expect(
                texts.contains { $0.contains(#""removal":"erased""#) && $0.contains("Annabel") && $0.contains("hi") })
            #expect(texts.contains { $0.contains(#""type":"system""#) && $0.contains("added") })
            #expect(try await database.sql("select name from users where id = '\(database.ann)'") == "Deleted user")
            try await database.release(hold)
            #expect(try await database.sql("select count(*) from held_users") == "0")
        }
    }

    @Test("the copy in a report is kept when the report deletes it, if the message was gone before the hold")
    func reports() async throws {
        try await HoldDatabase.run { database in
            let (store, report) = (database.base.store, ReportID.make())
            let message = try await database.base.send([], to: database.thread, by: database.ann, text: "insult")
            _ = try await store.createReport(
                report, of: .message(message, in: database.thread), by: database.ben, reason: "x")
            try await database.remove(message, by: .deletion)
            let hold = try await database.hold(.user(database.ann))
            #expect(try await database.kept() == [])
            _ = try await store.putReport(report, .resolved, by: HoldDatabase.admin)
            #expect(try await database.sql("select payload is null from reports") == "t")
            #expect(try await database.kept() == ["1 0 deleted insult"])
            try await database.release(hold)
            #expect(try await database.kept() == [])
        }
    }

    @Test("a hold waits for a removal under way, and covers what is removed after it")
    func concurrency() async throws {
        try await HoldDatabase.run { database in
            let first = try await database.base.send([], to: database.thread, by: database.ann, text: "1")
            let second = try await database.base.send([], to: database.thread, by: database.ben, text: "2")
            let removing = { (message: MessageID, user: UserID) in
                "begin; select message_delete('\(user)', '\(database.thread)', '\(message)'); \(Psql.sleep) commit;"
            }
            async let deleted = Psql.run(removing(first, database.ann), conninfo: database.base.conninfo)
            #expect(try await Psql.isAsleep(in: database.base.conninfo))
            async let held = database.hold(.thread(database.thread))
            #expect(try await Psql.isBlocked(in: database.base.conninfo))
            try await Psql.wake(in: database.base.conninfo)
            _ = try await (deleted, held)
            try await database.remove(second, by: .adminRemoval)
            #expect(try await database.kept() == ["2 0 deleted 2"])
        }
    }

    @Test("pages have what was removed, in order, at most 1 MiB; each is recorded, and none after the release")
    func reading() async throws {
        try await HoldDatabase.run { database in
            let hold = try await database.hold(.user(database.ann))
            for text in ["a", "b", String(repeating: "c", count: 700_000), String(repeating: "d", count: 700_000)] {
                let message = try await database.base.send([], to: database.thread, by: database.ann, text: text)
                try await database.remove(message, by: .deletion)
            }
            let store = database.base.store
            func page(after number: Int64, _ limit: Int) async throws -> HeldPage {
                try await store.heldContents(hold, after: number, limit: limit, by: HoldDatabase.admin)
            }
            let first = try await page(after: 0, 1)
            let second = try await page(after: try #require(first.next), 10)
            let third = try await page(after: try #require(second.next), 1)
            #expect([first.items.count, second.items.count, third.items.count] == [1, 2, 1] && third.next == nil)
            #expect(try await page(after: 1_000, 10).items.isEmpty)
            let subjects = try await database.sql(
                "select substr(subject, 39) from audit where action = 'hold.read' order by id")
            #expect(
                subjects.split(separator: "\n") == [
                    "1 contents, 1 to 1", "2 contents, 2 to 3", "1 contents, 4 to 4", "0 contents",
                ])
            try await store.releaseHold(hold, by: HoldDatabase.admin)
            await #expect { _ = try await page(after: 0, 1) } throws: { ($0 as? Problem)?.code == .holdReleased }
        }
    }
}
