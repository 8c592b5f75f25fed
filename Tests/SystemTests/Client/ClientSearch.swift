// Search on the device and at the server.

import Foundation
import Parley
import TestSupport
import Testing

extension SystemTests {
    @Suite("The client's search", .timeLimit(.minutes(3)))
    struct ClientSearch {
        @Test("search shows what the device has at once, and then what only the server has")
        func searches() async throws {
            let pair = try await AnnAndBen.meet()
            try await pair.device.goOffline()
            for text in ["The old river", "Tea", "A <b>river</b> boat"] { try await pair.benSays(text) }
            try await pair.device.goOnline()
            // This device has only the newest message, and those that come now.
            let device = try await TestDevice.signedIn(pair.ann, at: try await TestNodes.shared().a.address)
            try await pair.benSays("Rivers and Straße")
            try await device.parley.thread(pair.thread.id).summary.wait("the message") { $0?.thread.head == 4 }
            try await eventually("the server's index", every: .milliseconds(50)) {
                let found = try await pair.server.get("/v1/search?q=river", as: pair.ann).json["results"].items.count
                return found == 3 ? true : nil
            }
            let shown = Shown(device.parley.search("river"))
            try await shown.wait("three results") { $0.count == 3 }
            #expect(shown.rows.map(\.message.seq) == [4, 3, 1])
            #expect(shown.states[0].map(\.message.seq) == [4, 3])
            #expect(shown.states[0][1].snippet == "A &lt;b&gt;<mark>river</mark>&lt;/b&gt; boat")

            try await device.goOffline()
            let local = Shown(device.parley.search("riv", in: pair.thread.id))
            try await local.wait("the device's results") { $0.map(\.message.seq) == [4, 3] }
            #expect(local.states.count == 1)
            let none = Shown(device.parley.search("\"* OR river"))
            try await none.wait("no results") { $0.isEmpty }
        }
    }
}
