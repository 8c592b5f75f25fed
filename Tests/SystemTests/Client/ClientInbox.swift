// The list of threads, and the user's own marks, drafts and counts in it.

import Foundation
import Parley
import TestSupport
import Testing

extension SystemTests {
    @Suite("The client's inbox", .timeLimit(.minutes(3)))
    struct ClientInbox {
        @Test("changes applied to a snapshot equal a fresh snapshot and the server's inbox")
        func equalsFresh() async throws {
            let pair = try await AnnAndBen.meet()
            var threads = [pair.id]
            for _ in 0..<3 { threads.append(try await pair.server.thread("group", by: pair.ben, with: [pair.ann])) }
            let shown = Shown(pair.parley.inbox())
            try await shown.wait("four threads") { $0.count == 4 }
            var random = SplitMix64(freshFor: "the client's inbox")
            for number in 1...40 {
                let id = threads[random.below(threads.count)]
                let thread = pair.parley.thread(ThreadID(id))
                switch random.below(6) {
                case 0: try await thread.markRead(through: Seq(random.below(number) + 1))
                case 1: try await thread.send(.text("\(number)"))
                case 2: try await thread.updateSettings(isArchived: random.chance(2), isPinned: random.chance(2))
                default: _ = try await pair.server.sent("\(number)", in: id, as: pair.ben)
                }
            }
            try await pair.parley.catchUp()  // All of Ann's messages and marks are sent.
            let last = MessageID(try await pair.server.sent("The end", in: threads[1], as: pair.ben))
            try await shown.wait("the last message") { $0.first?.thread.lastMessage?.id == last }
            let fresh = Shown(pair.parley.inbox())
            try await eventually("equal lists") { fresh.rows == shown.rows }
            try await eventually("the server's inbox") {
                let inbox = try await pair.server.get("/v1/inbox", as: pair.ann).json["threads"].items
                let expected = inbox.map {
                    "\($0["id"].string ?? "") \($0["unread_count"].int ?? -1) \($0["head"].int ?? -1)"
                }
                return shown.rows.map { "\($0.id) \($0.thread.unreadCount) \($0.thread.head)" } == expected
            }
        }

        @Test("filters show archived, active and unread threads")
        func filters() async throws {
            let pair = try await AnnAndBen.meet()
            let other = try await pair.server.thread("group", by: pair.ben, with: [pair.ann])
            let lists = [InboxFilter.all, .active, .unread, .archived].map { Shown(pair.parley.inbox($0)) }
            func expect(_ counts: [Int]) async throws {
                for (list, count) in zip(lists, counts) { try await list.wait("\(counts)") { $0.count == count } }
            }
            try await expect([2, 2, 0, 0])
            try await pair.benSays("Hello")
            try await expect([2, 2, 1, 0])
            try await pair.parley.thread(ThreadID(other)).updateSettings(isArchived: true)
            try await expect([2, 1, 1, 1])
            try await pair.thread.markRead(through: 1)
            try await expect([2, 1, 0, 1])
        }

        @Test("a read mark counts at once, offline too, and the server's count is the same afterwards")
        func marks() async throws {
            let pair = try await AnnAndBen.meet()
            try await pair.benSays(1...5)
            try await pair.parley.unreadTotal.wait("five unread") { $0 == 5 }
            try await pair.device.goOffline()
            try await pair.thread.markRead(through: 3)
            #expect(try await pair.parley.unreadTotal.current == 2)
            #expect(try await pair.thread.summary.current?.thread.unreadCount == 2)
            #expect(try await pair.serverUnread() == 5)
            let device = try await pair.device.restarted()
            let counts = Task {
                var seen: [Int] = []
                for await count in device.parley.unreadTotal { seen.append(count) }
                return seen
            }
            try await eventually("the server's count") { try await pair.serverUnread() == 2 }
            _ = try await pair.server.sent("6", in: pair.id, as: pair.ben)
            try await device.parley.unreadTotal.wait("three unread") { $0 == 3 }
            await device.parley.close()
            #expect(await counts.value == [2, 3])
        }

        @Test("marking as unread comes after a read mark in flight, and before a later one")
        func marksUnread() async throws {
            let pair = try await AnnAndBen.meet()
            try await pair.benSays(1...5)
            try await pair.parley.unreadTotal.wait("five unread") { $0 == 5 }
            pair.wire.meet("POST", "/receipts", with: .holdRequest)
            try await pair.thread.markRead(through: 5)
            try await pair.wire.wait("POST", "/receipts")
            async let marking: Void = pair.thread.markUnread(from: 3)
            try await Task.sleep(for: .milliseconds(50))
            pair.wire.release()
            try await marking
            try await pair.parley.unreadTotal.wait("three unread") { $0 == 3 }
            #expect(try await pair.serverUnread() == 3)

            // The user reads on before the event of the mark has come.
            try await pair.thread.markRead(through: 5)
            try await pair.parley.unreadTotal.wait("none unread") { $0 == 0 }
            try await eventually("none unread at the server") { try await pair.serverUnread() == 0 }
            try await pair.device.goOffline()
            pair.wire.meet("GET", "/sync", after: 1, with: .holdAnswer)
            try await pair.device.goOnline()
            try await pair.thread.markUnread(from: 5)
            try await pair.thread.markRead(through: 5)
            try await eventually("the mark sent") { pair.wire.sent("POST", "/receipts").count == 3 }
            pair.wire.release()
            try await pair.parley.catchUp()
            try await eventually("none unread at the server") { try await pair.serverUnread() == 0 }
        }

        @Test("drafts are part of their rows and survive the app")
        func drafts() async throws {
            let pair = try await AnnAndBen.meet()
            let shown = Shown(pair.parley.inbox())
            try await pair.thread.setDraft("Dear Ben,")
            try await shown.wait("the draft") { $0.first?.draft == "Dear Ben," }
            let device = try await pair.device.restarted(isCut: true)
            let thread = device.parley.thread(pair.thread.id)
            #expect(try await thread.draft == "Dear Ben,")
            try await thread.setDraft("")
            #expect(try await thread.summary.current?.draft == nil)
        }
    }
}
