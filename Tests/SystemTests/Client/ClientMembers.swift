// The people of a thread: members, typing, presence, blocks.

import Foundation
import Parley
import TestSupport
import Testing

extension SystemTests {
    @Suite("People in the client", .timeLimit(.minutes(3)))
    struct ClientMembers {
        private func names(_ members: [Member]) -> [String] { members.map { "\($0.user.name) \($0.role)" } }

        @Test("the list of members follows roles, additions and removals, by this device and by others")
        func members() async throws {
            let pair = try await AnnAndBen.meet()
            let cora = try await pair.server.register("Cora")
            let group = try await pair.parley.createGroup(title: "Tea", members: [UserID(pair.ben.id)])
            let shown = Shown(group.members())
            try await shown.wait("two members") { names($0) == ["Ann owner", "Ben member"] }
            try await group.setRole(.admin, of: UserID(pair.ben.id))
            try await shown.wait("an admin") { names($0) == ["Ann owner", "Ben admin"] }
            let path = "/v1/threads/\(group.id)/members"
            let added = try await pair.server.put("\(path)/\(cora.id)", ["status": "joined"], as: pair.ben)
            #expect(added.status < 300, "\(added)")
            try await shown.wait("three members") { names($0) == ["Ann owner", "Ben admin", "Cora member"] }
            try await group.remove(UserID(cora.id))
            try await shown.wait("two members again") { names($0) == ["Ann owner", "Ben admin"] }
            #expect(try await pair.server.delete("\(path)/\(pair.ann.id)", as: pair.ben).status >= 400)
            try await group.leave()
            try await shown.wait("nobody") { $0.isEmpty }
        }

        @Test("members that could not be loaded offline come with the network")
        func membersOffline() async throws {
            let pair = try await AnnAndBen.meet()
            let group = try await pair.server.thread("group", by: pair.ben, with: [pair.ann])
            let device = try await TestDevice.signedIn(pair.ann, at: try await TestNodes.shared().a.address)
            try await device.goOffline()
            let shown = Shown(device.parley.thread(ThreadID(group)).members())
            try await shown.wait("an empty list") { $0.isEmpty }
            device.wire.meet("GET", "/members", with: .answer(.refusal(503, "overloaded", retryAfter: 0)))
            try await device.goOnline()
            try await shown.wait("two members") { $0.count == 2 }
        }

        @Test("typing is shown for six seconds, or until the message comes")
        func typing() async throws {
            let pair = try await AnnAndBen.meet()
            let ben = UserID(pair.ben.id)
            func type() async throws {
                let answer = try await pair.server.put("/v1/threads/\(pair.id)/typing", [:], as: pair.ben)
                #expect(answer.status == 204, "\(answer)")
            }
            // The server passes typing to devices that have polled, and the client is live a moment before it polls.
            try await eventually("Ann's device polls") {
                try await pair.server.get("/v1/users/\(pair.ann.id)", as: pair.ben).json["presence"] == "online"
            }
            var began = ContinuousClock.now
            try await type()
            try await pair.thread.typing.wait("Ben types") { $0 == [ben] }
            try await pair.thread.typing.wait("nobody types") { $0 == [] }
            #expect(began.duration(to: .now) > .seconds(5.5))
            began = .now
            try await type()
            try await pair.thread.typing.wait("Ben types") { $0 == [ben] }
            try await pair.benSays("Hello")
            try await pair.thread.typing.wait("nobody types") { $0 == [] }
            #expect(began.duration(to: .now) < .seconds(5.5), "the message ends it, before its time does")
            // The user's own typing is not shown.
            try await pair.thread.sendTyping()
            try await pair.thread.send(.text("Hi"))
            try await pair.thread.summary.wait("the message") { $0?.thread.head == 2 }
            #expect(try await pair.thread.typing.current == [])
        }

        @Test("presence is nil without a connection, and shown again after it")
        func presence() async throws {
            let pair = try await AnnAndBen.meet()
            let ben = UserID(pair.ben.id)
            let cursor = try await pair.server.cursor(of: pair.ben)
            _ = try await pair.server.sync(pair.ben, from: cursor)
            try await pair.parley.presence(of: ben).wait("online") { $0?.isOnline == true }
            try await pair.thread.summary.wait("online in the inbox") { $0?.peerPresence?.isOnline == true }
            try await pair.device.goOffline()
            try await pair.parley.presence(of: ben).wait("unknown") { $0 == nil }
            try await pair.device.goOnline()
            try await pair.parley.presence(of: ben).wait("online again") { $0?.isOnline == true }
        }

        @Test("a block is visible at once, and on the user's other devices")
        func blocks() async throws {
            let pair = try await AnnAndBen.meet()
            let ben = UserID(pair.ben.id)
            let other = try await TestDevice.signedIn(pair.ann, at: try await TestNodes.shared().b.address)
            try await pair.parley.block(ben)
            #expect(try await pair.parley.blocked.current == [ben])
            try await other.parley.blocked.wait("the block") { $0 == [ben] }
            let refusal = try await pair.server.say("Hello?", in: pair.id, as: pair.ben)
            #expect(refusal.code == "not_reachable")
            try await other.parley.unblock(ben)
            try await pair.parley.blocked.wait("no block") { $0.isEmpty }
        }
    }
}
