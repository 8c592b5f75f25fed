// Messages on their way to the server, through everything that may happen to them.

import Foundation
import Parley
import TestSupport
import Testing

extension SystemTests {
    @Suite("The client's outbox", .timeLimit(.minutes(3)))
    struct ClientOutbox {
        private func waitUntilStored(_ texts: [String], _ pair: AnnAndBen) async throws {
            try await eventually("\(texts) stored", every: .milliseconds(20)) {
                try await pair.storedTexts() == texts
            }
        }

        private func state(
            _ message: OutgoingMessage, _ what: String, _ test: @escaping @Sendable (OutgoingState) -> Bool
        )
            async throws
        {
            try await message.states.wait(what, until: test)
        }

        @Test("messages written offline are sent once and in order when the network is back")
        func offline() async throws {
            let pair = try await AnnAndBen.meet()
            try await pair.device.goOffline()
            var sent: [OutgoingMessage] = []
            for number in 1...5 { sent.append(try await pair.thread.send(.text("\(number)"))) }
            let outbox = Shown(pair.parley.outbox())
            try await outbox.wait("five messages") { $0.map(\.id) == sent.map(\.id) }
            #expect(try await pair.thread.summary.current?.unsent == .sending)
            try await pair.device.goOnline()
            try await waitUntilStored((1...5).map(String.init), pair)
            for (index, message) in sent.enumerated() {
                try await state(message, "sent") { $0 == .sent(Seq(index + 1)) }
            }
            try await outbox.wait("an empty outbox") { $0.isEmpty }
            try await pair.thread.summary.wait("nothing unsent") { $0?.unsent == InboxRow.Unsent.none }
            let ids = try await pair.server.history(of: pair.id, as: pair.ann).map { $0["id"].string }
            #expect(ids == sent.map(\.id.rawValue))
        }

        @Test("queued messages survive the app, and so do their files")
        func restarts() async throws {
            let pair = try await AnnAndBen.meet()
            try await pair.device.goOffline()
            for number in 1...3 {
                try await pair.thread.send(
                    .text("\(number)"), attachments: [.data(Data("\(number)".utf8), name: "n.txt")])
            }
            let device = try await pair.device.restarted(isCut: true)
            let outbox = Shown(device.parley.outbox())
            try await outbox.wait("three messages") { $0.map(\.text) == ["1", "2", "3"] }
            device.wire.mend()
            device.parley.retryNow()
            try await waitUntilStored(["1", "2", "3"], pair)
            let names = try await pair.server.history(of: pair.id, as: pair.ann)
                .map { $0["payload"]["attachments"][0]["name"].string }
            #expect(names == ["n.txt", "n.txt", "n.txt"])
        }

        @Test("a refused message fails alone, and is sent when the user retries it")
        func refused() async throws {
            let pair = try await AnnAndBen.meet()
            pair.wire.meet("POST", "/messages", with: .answer(.refusal(403, "not_reachable")))
            let first = try await pair.thread.send(.text("1"))
            let second = try await pair.thread.send(.text("2"))
            try await state(second, "sent") { $0 == .sent(1) }
            try await state(first, "failed") {
                if case .failed(let error) = $0 { error.code == "not_reachable" } else { false }
            }
            #expect(try await pair.thread.summary.current?.unsent == .failed)
            let device = try await pair.device.restarted()
            let outbox = Shown(device.parley.outbox())
            let failed = try await outbox.wait("the failed message") { $0.map(\.text) == ["1"] }[0]
            guard case .failed(let error) = failed.state else {
                Issue.record("\(failed.state)")
                return
            }
            #expect(error.code == "not_reachable")
            try await failed.retry()
            try await waitUntilStored(["2", "1"], pair)
        }

        @Test("a queued message can be cancelled, and one that is being sent cannot")
        func cancels() async throws {
            let pair = try await AnnAndBen.meet()
            pair.wire.meet("POST", "/messages", with: .holdAnswer)
            let sending = try await pair.thread.send(.text("sending"))
            let queued = try await pair.thread.send(.text("queued"))
            let last = try await pair.thread.send(.text("last"))
            try await pair.wire.wait("POST", "/messages")
            try await state(sending, "sending or sent") { if case .queued = $0 { false } else { true } }
            #expect(try await queued.cancel())
            #expect(try await !sending.cancel())
            pair.wire.release()
            try await state(last, "sent") { $0 == .sent(2) }
            #expect(try await pair.storedTexts() == ["sending", "last"])
            try await state(queued, "cancelled") { $0 == .cancelled }
            #expect(try await !last.cancel())
        }

        @Test("a message whose answer is lost is sent again and stored once")
        func lostAnswer() async throws {
            let pair = try await AnnAndBen.meet()
            // Without its event the client knows nothing of the stored message.
            pair.wire.meet("POST", "/messages", times: 2, with: .loseAnswer)
            pair.wire.meet("GET", "/sync", times: 1, with: .holdAnswer)
            let message = try await pair.thread.send(.text("once"))
            try await pair.wire.wait(for: 3, "POST", "/messages")
            pair.wire.release()
            try await state(message, "sent") { $0 == .sent(1) }
            #expect(try await pair.storedTexts() == ["once"])
        }

        @Test("an event that comes before the answer turns the message into a sent one, without a state between")
        func eventFirst() async throws {
            let pair = try await AnnAndBen.meet()
            let timeline = Shown(pair.thread.timeline())
            try await timeline.wait(for: [])
            pair.wire.meet("POST", "/messages", with: .holdAnswer)
            let message = try await pair.thread.send(.text("Hello"))
            try await state(message, "sent") { $0 == .sent(1) }
            try await timeline.wait(for: ["Hello"])
            try await pair.benSays("Hi")
            try await timeline.wait(for: ["Hello", "Hi"])
            pair.wire.release()
            try await pair.thread.send(.text("How are you?"))
            try await timeline.wait(for: ["Hello", "Hi", "How are you?"])
            for rows in timeline.states.drop(while: \.isEmpty) {
                #expect(rows.count { $0.id == .message(message.id) } == 1)
            }
        }

        @Test("an answer that comes before the event does so, too")
        func answerFirst() async throws {
            let pair = try await AnnAndBen.meet()
            let timeline = Shown(pair.thread.timeline())
            try await timeline.wait(for: [])
            try await pair.device.goOffline()
            pair.wire.meet("GET", "/sync", after: 1, with: .holdAnswer)  // After the poll that makes it live.
            try await pair.device.goOnline()
            let message = try await pair.thread.send(.text("Hello"))
            try await timeline.wait(for: ["Hello"])
            pair.wire.release()
            try await pair.thread.summary.wait("the event") { $0?.thread.head == 1 }
            for rows in timeline.states.drop(while: \.isEmpty) { #expect(rows.map(\.id) == [.message(message.id)]) }
        }

        @Test("a node killed during sends: each message is stored once, in the order of its thread")
        func nodeKilled() async throws {
            let nodes = try await RestartableNodes.start(1, on: try await MigratedDatabase.create())
            let pair = try await AnnAndBen.meet(at: nodes.addresses[0])
            let other = try await pair.parley.createGroup(title: "Diary", members: [])
            let texts = (1...40).map(String.init)
            for (index, text) in texts.enumerated() {
                try await pair.thread.send(.text(text))
                try await other.send(.text(text))
                if index == 19 { try await nodes.kill(0) }
            }
            try await nodes.restart(0)
            try await waitUntilStored(texts, pair)
            try await eventually("the other thread's messages stored") {
                try await pair.storedTexts(in: other.id.rawValue) == texts
            }
            try await pair.device.waitUntilLive()
            try await nodes.stopAll()
        }

        @Test("a 429 is obeyed: the next try comes after Retry-After")
        func rateLimited() async throws {
            let pair = try await AnnAndBen.meet()
            pair.wire.meet("POST", "/messages", with: .answer(.refusal(429, "rate_limited", retryAfter: 2)))
            let message = try await pair.thread.send(.text("Hello"))
            try await state(message, "sent") { $0 == .sent(1) }
            let times = pair.wire.sent("POST", "/messages").map(\.time)
            #expect(times.count == 2)
            #expect(times[0].duration(to: times[1]) >= .seconds(2))
        }

        @Test("a session that ends during a send leaves the message in the outbox, and nothing runs on")
        func sessionEndsAtSend() async throws {
            let pair = try await AnnAndBen.meet()
            pair.wire.meet("POST", "/messages", times: 100, with: .answer(.refusal(401, "invalid_token")))
            try await pair.thread.send(.text("Later"))
            try await pair.parley.status.wait("signed out") {
                if case .signedOut(let problem) = $0 { problem != nil } else { false }
            }
            #expect(pair.wire.sent("POST", "/messages").count <= 2)
            let outbox = Shown(pair.parley.outbox())
            try await outbox.wait("the message") { $0.map(\.state) == [.queued] }
        }
    }
}
