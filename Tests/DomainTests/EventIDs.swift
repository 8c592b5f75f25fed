// The text of event ids.
import Domain
import Testing

@Suite("An event's id", .timeLimit(.minutes(1)))
struct EventIDs {
    @Test("is read back from its text")
    func roundTrip() {
        for (lane, epoch, position) in [(0, 1, 1), (3, 7, 1 << 40), (UInt8.max, Int32.max, Int64.max)] {
            let id = EventID(lane: lane, epoch: epoch, position: Position(position))
            #expect(id.description == "evt_\(lane)_\(epoch)_\(position)")
            #expect(EventID(parsing: id.description) == id)
        }
    }

    @Test(
        "is refused in any other form",
        arguments: [
            "", "evt_", "evt_0_1", "evt_0_1_2_3", "evt_0_1_", "evt_0_0_1", "evt_0_1_0", "evt_00_1_1", "evt_0_01_1",
            "evt_0_1_+1", "evt_0_1_-1", "evt_256_1_1", "evt_0_1_9223372036854775808", "EVT_0_1_1", " evt_0_1_1",
            "evt_0_1_1 ",
        ])
    func refuses(text: String) {
        #expect(EventID(parsing: text) == nil)
    }
}
