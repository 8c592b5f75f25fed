// When the node's timers wake.
import Testing

@testable import Workers

@Suite("Ticks", .timeLimit(.minutes(1)))
struct Ticks {
    @Test(
        "end sleeps at whole multiples of their length, whenever they began, so that different sleeps end together",
        arguments: [
            (0, [250, 500, 1_000]), (1, [250, 500, 1_000]), (249, [250, 500, 1_000]), (250, [500, 500, 1_000]),
            (999, [1_000, 1_000, 1_000]), (1_000, [1_250, 1_500, 2_000]),
        ])
    func meets(beganMs: Int, endsMs: [Int]) {
        for (interval, end) in zip([250, 500, 1_000], endsMs) {
            #expect(
                Ticker.end(of: .milliseconds(interval), after: .milliseconds(beganMs)) == .milliseconds(end),
                "\(interval) ms from \(beganMs) on")
        }
    }

    @Test("do not drift over months")
    func staysOnIt() {
        let months = Duration.seconds(100 * 86_400)
        #expect(Ticker.end(of: .milliseconds(250), after: months + .milliseconds(1)) == months + .milliseconds(250))
    }
}
