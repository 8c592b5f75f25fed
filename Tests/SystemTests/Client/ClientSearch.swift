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
                return found == 3
            }
            var states: [SearchResults] = []
            for await found in device.parley.search("river") {
                states.append(found)
                if found.state != .searching { break }
            }
            #expect(states.map { $0.results.map(\.message.seq) } == [[4, 3], [4, 3, 1]])
            #expect(states.map(\.state) == [.searching, .complete])
            #expect(states[0].results[1].snippet == "A &lt;b&gt;<mark>river</mark>&lt;/b&gt; boat")

            try await device.goOffline()
            let local = try await device.parley.search("riv", in: pair.thread.id).wait("the end") {
                $0.state.error != nil
            }
            #expect(local.results.map(\.message.seq) == [4, 3] && local.state.error?.kind == .noAnswer)
            let none = try await device.parley.search("\"* OR river").wait("the end") { $0.state.error != nil }
            #expect(none.results.isEmpty)
        }
    }
}
