// Pictures made to exhaust whoever decodes them.
import TestSupport
import Testing
import Thumbnailing

@Suite("A picture bomb", .timeLimit(.minutes(1)))
struct PictureBombs {
    @Test("costs at most one process: it is refused, killed or drawn within the limits")
    func bombs() async throws {
        let pillow = try await Pillow("bombs")
        let clock = ContinuousClock()
        for name in try pillow.names {
            let bytes = try pillow.bytes(name)
            let began = clock.now
            let drawing = try await draw(bytes)
            #expect(clock.now - began < .seconds(11), "\(name)")
            let isExpected =
                switch (name, drawing) {
                case ("60000.png", .tooLarge), ("65500.jpg", .tooLarge), ("65535.gif", .tooLarge): true
                case ("16777216.webp", .unreadable), ("short.png", .unreadable): true
                // As large as permitted, or small with a lot beside it.
                case ("limit.png", .drawn), ("10000.gif", .drawn), ("text.png", .drawn): true
                case ("profile.png", .drawn), ("profile.png", .unreadable): true
                case ("scans.jpg", .unreadable), ("scans.jpg", .killed), ("scans.jpg", .timedOut): true
                default: false
                }
            #expect(isExpected, "\(name): \(drawing)")
        }
        #expect(builtThumbnailer.load == (0, 0))
    }
}
