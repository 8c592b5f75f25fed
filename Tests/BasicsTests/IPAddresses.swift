// IP addresses as text.

import Basics
import Testing

@Suite("An IP address", .timeLimit(.minutes(1)))
struct IPAddresses {
    @Test(
        "is read from text and written in the usual form",
        arguments: [
            ("127.0.0.1", "127.0.0.1"), ("255.0.2.1", "255.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("::1", "::1"),
            ("2001:DB8:0:0::1", "2001:db8::1"), ("::", "::"),
        ])
    func texts(given: String, shown: String) throws {
        let address = try #require(IPAddress(parsing: given))
        #expect("\(address)" == shown)
        #expect(address.isV4 == !shown.contains(":"))
    }

    @Test(
        "is not read from any other text",
        arguments: [
            "", "1", "127.0.0.1:80", "[::1]", "::1%eth0", "256.0.0.1", "127.0.0.1\0", "localhost", " ::1",
            "1.2.3.4, ::",
        ])
    func noAddresses(text: String) {
        #expect(IPAddress(parsing: text) == nil)
    }
}
