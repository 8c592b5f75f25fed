// The window on a thread's messages: where it opens, what it fetches, and what it shows as things change.

import Foundation
import Parley
import TestSupport
import Testing

extension SystemTests {
    @Suite("The client's timelines", .timeLimit(.minutes(3)))
    struct ClientTimelines {
        private func numbers(_ range: ClosedRange<Int>) -> [String] { range.map(String.init) }

        @Test("a timeline opens at the first unread message, fetches what it lacks, and grows to both ends")
        func opens() async throws {
            let pair = try await AnnAndBen.meet()
            try await pair.device.goOffline()
            try await pair.benSays(1...150)
            let mark = try await pair.server.put("/v1/threads/\(pair.id)/receipts", ["read": 60], as: pair.ann)
            #expect(mark.status == 204, "\(mark)")
            // Another device, which has only the inbox.
            let device = try await TestDevice.signedIn(pair.ann, at: try await TestNodes.shared().a.address)
            let thread = device.parley.thread(pair.thread.id)
            let timeline = thread.timeline()
            let shown = Shown(timeline)
            try await shown.wait(for: numbers(36...60) + ["---"] + numbers(61...86))
            #expect(!timeline.isAtStart && !timeline.isAtEnd)
            #expect(shown.states[0].map(\.text) == ["..."], "The first state is what the device has.")

            try await timeline.loadEarlier(20)
            try await shown.wait(for: numbers(16...60) + ["---"] + numbers(61...86))
            try await timeline.loadEarlier()
            try await shown.wait(for: numbers(1...60) + ["---"] + numbers(61...86))
            #expect(timeline.isAtStart)
            try await timeline.loadLater(14)
            try await shown.wait(for: numbers(1...60) + ["---"] + numbers(61...100))
            try await pair.benSays("151")
            try await timeline.loadLater(60)
            try await shown.wait(for: numbers(1...60) + ["---"] + numbers(61...151))
            #expect(timeline.isAtEnd)
            try await pair.benSays("152")
            try await shown.wait(for: numbers(1...60) + ["---"] + numbers(61...152))
        }

        @Test("a timeline jumps to a message, to a seq and to the newest message")
        func jumps() async throws {
            let pair = try await AnnAndBen.meet()
            try await pair.device.goOffline()
            let first = try await pair.benSays("1")
            try await pair.benSays(2...120)
            let device = try await TestDevice.signedIn(pair.ann, at: try await TestNodes.shared().b.address)
            let timeline = device.parley.thread(pair.thread.id).timeline(around: .newest)
            let shown = Shown(timeline)
            try await shown.wait("the newest messages") { $0.map(\.text).filter { $0 != "---" } == numbers(71...120) }
            try await timeline.jump(to: .message(first))
            try await shown.wait("the first messages") { $0.map(\.text).filter { $0 != "---" } == numbers(1...26) }
            try await timeline.jump(to: .seq(60))
            try await shown.wait("those in the middle") { $0.map(\.text).filter { $0 != "---" } == numbers(35...85) }
            #expect(!timeline.isAtStart && !timeline.isAtEnd)
            try await timeline.jump(to: .newest)
            try await shown.wait("the newest messages") { $0.map(\.text).filter { $0 != "---" } == numbers(71...120) }
            await #expect(throws: ParleyError.self) { try await timeline.jump(to: .message(MessageID(newID()))) }
            #expect(shown.rows.last?.text == "120")
        }

        @Test("edits, reactions and deletions of both people show as updates")
        func changes() async throws {
            let pair = try await AnnAndBen.meet()
            let (server, thread) = (pair.server, pair.thread)
            let shown = Shown(thread.timeline())
            try await pair.benSays(1...3)
            let own = try await thread.send(.text("mine"))
            let rows = try await shown.wait(for: ["1", "2", "3", "mine"])
            let ids = rows.compactMap(\.message?.id)
            let path = "/v1/threads/\(pair.id)/messages"

            try await thread.edit(own.id, text: "mine, edited")
            #expect(shown.texts.last == "mine, edited" || shown.rows.last?.message?.text == "mine")
            let edit = try await server.call("PATCH", "\(path)/\(ids[0])", ["payload": ["text": "one"]], as: pair.ben)
            #expect(edit.status == 200, "\(edit)")
            try await shown.wait(for: ["one", "2", "3", "mine, edited"])

            try await thread.react("👍", to: ids[1])
            #expect(try await server.put("\(path)/\(ids[1])/reactions/%F0%9F%91%8D", [:], as: pair.ben).status < 300)
            try await shown.wait("two reactions") { $0[1].message?.reactions == ["👍": Reaction(count: 2, me: true)] }
            try await thread.unreact("👍", to: ids[1])
            try await shown.wait("Ben's reaction") { $0[1].message?.reactions == ["👍": Reaction(count: 1, me: false)] }

            #expect(try await server.delete("\(path)/\(ids[0])?for=everyone", as: pair.ben).status == 204)
            try await shown.wait(for: ["(deleted)", "2", "3", "mine, edited"])
            try await thread.delete(ids[2], for: .me)
            try await shown.wait(for: ["(deleted)", "2", "mine, edited"])
            try await thread.delete(own.id, for: .everyone)
            try await shown.wait(for: ["(deleted)", "2", "(deleted)"])
            try await thread.updateSettings(hiddenBeforeSeq: 4)
            try await shown.wait(for: ["(deleted)"])
            let fresh = Shown(thread.timeline())
            try await fresh.wait(for: ["(deleted)"])
        }

        @Test("an own message shows how many have it and how many have read it")
        func delivery() async throws {
            let pair = try await AnnAndBen.meet()
            let shown = Shown(pair.thread.timeline())
            try await pair.thread.send(.text("Hello"))
            try await shown.wait("sent") { $0.last?.delivery == Delivery(others: 1, delivered: 0, read: 0) }
            let cursor = try await pair.server.cursor(of: pair.ben)
            _ = try await pair.server.sync(pair.ben, from: cursor)
            try await shown.wait("delivered") { $0.last?.delivery == Delivery(others: 1, delivered: 1, read: 0) }
            let mark = try await pair.server.put("/v1/threads/\(pair.id)/receipts", ["read": 1], as: pair.ben)
            #expect(mark.status == 204, "\(mark)")
            try await shown.wait("read") { $0.last?.delivery?.isReadByAll == true }
        }

        @Test("messages sent into a new thread at once never leave its timeline")
        func newThread() async throws {
            let pair = try await AnnAndBen.meet()
            // The event of the new thread comes after the messages' answers.
            try await pair.device.goOffline()
            pair.wire.meet("GET", "/sync", after: 1, with: .holdAnswer)
            try await pair.device.goOnline()
            let diary = try await pair.parley.createGroup(title: "Diary", members: [])
            let shown = Shown(diary.timeline())
            for text in ["1", "2"] { try await diary.send(.text(text)) }
            try await shown.wait(for: ["1", "2"])
            pair.wire.release()
            try await diary.summary.wait("all events") { $0?.thread.head == 2 }
            try await shown.wait(for: ["1", "2"])
            let texts = shown.states.map { rows in rows.map { $0.text.replacing("> ", with: "") } }
            #expect(texts.drop { $0.count < 2 }.allSatisfy { $0 == ["1", "2"] }, "\(texts)")
        }

        @Test("a jump into a thread that the device does not have yet waits for the thread")
        func jumpsAhead() async throws {
            let pair = try await AnnAndBen.meet()
            try await pair.device.goOffline()
            let id = try await pair.server.thread("group", by: pair.ben, with: [pair.ann])
            var sent: [MessageID] = []
            for number in 1...60 {
                sent.append(MessageID(try await pair.server.sent("\(number)", in: id, as: pair.ben)))
            }
            pair.wire.meet("GET", "/sync", with: .holdAnswer)
            pair.wire.mend()
            pair.parley.retryNow()
            let timeline = pair.parley.thread(ThreadID(id)).timeline(around: .newest)
            let shown = Shown(timeline)
            try await shown.wait(for: [])
            try await timeline.jump(to: .message(sent[9]))
            pair.wire.release()
            try await shown.wait("the place") { $0.map(\.text).filter { $0 != "---" } == numbers(1...35) }
            #expect(!timeline.isAtEnd)
        }

        @Test("changes applied to a snapshot equal a fresh snapshot")
        func equalsFresh() async throws {
            let pair = try await AnnAndBen.meet()
            let shown = Shown(pair.thread.timeline(around: .newest))
            try await shown.wait(for: [])
            var ids: [MessageID] = []
            var random = SplitMix64(freshFor: "the client's timelines")
            for number in 1...40 {
                let path = "/v1/threads/\(pair.id)/messages"
                switch (random.below(6), ids.randomElement(using: &random)) {
                case (0, let id?):
                    _ = try await pair.server.delete("\(path)/\(id)?for=everyone", as: pair.ben)
                    ids.removeAll { $0 == id }
                case (1, let id?):
                    _ = try await pair.server.call("PATCH", "\(path)/\(id)", ["payload": ["text": "e"]], as: pair.ben)
                case (2, let id?):
                    try await pair.thread.react("🎉", to: id)
                case (3, let id?):
                    try await pair.thread.delete(id, for: .me)
                    ids.removeAll { $0 == id }
                case (4, _): try await pair.thread.send(.text("Ann \(number)"))
                default: ids.append(try await pair.benSays("Ben \(number)"))
                }
            }
            try await pair.parley.catchUp()  // All of Ann's messages are sent.
            try await pair.benSays("The end")
            try await shown.wait("the last message") {
                $0.last?.text == "The end" && !$0.contains { $0.text.hasPrefix("> ") }
            }
            let fresh = Shown(pair.thread.timeline(around: .newest))
            // Only the fresh one has been opened with something unread.
            try await eventually("equal lists") { fresh.rows.filter { $0.id != .divider } == shown.rows }
            let stored = try await pair.server.history(of: pair.id, as: pair.ann)
            try await shown.wait("what the server has") {
                $0.map(\.id) == stored.map { .message(MessageID($0["id"].string ?? "")) }
            }
            for rows in shown.states { #expect(Set(rows.map(\.id)).count == rows.count) }
        }
    }
}
