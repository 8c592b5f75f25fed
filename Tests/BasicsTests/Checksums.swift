// CRC-32 by its check value.
import Basics
import Testing

@Suite("CRC-32", .timeLimit(.minutes(1)))
struct Checksums {
    @Test("returns the check value of its catalogue entry")
    func check() {
        #expect(CRC32.value(of: "123456789".utf8) == 0xcbf4_3926)
        #expect(CRC32.bytes(of: "123456789".utf8) == [0xcb, 0xf4, 0x39, 0x26])
    }
}
