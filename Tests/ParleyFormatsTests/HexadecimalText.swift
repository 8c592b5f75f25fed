// Bytes as hexadecimal digits.
import ParleyFormats
import Testing

@Suite("Hexadecimal text", .timeLimit(.minutes(1)))
struct HexadecimalText {
    @Test("has two lower-case digits for each byte, and is read in either case")
    func roundTrip() {
        let bytes = (0...255).map { UInt8($0) }
        let text = bytes.hexadecimal
        #expect(text.hasPrefix("000102") && text.hasSuffix("fdfeff"))
        #expect([UInt8](hexadecimal: text) == bytes && [UInt8](hexadecimal: text.uppercased()) == bytes)
        #expect([UInt8](hexadecimal: "") == [])
    }

    @Test("is nothing else", arguments: ["0", "0g", "é0", " 00", "00 ", "0x00", "１1"])
    func refusals(_ text: String) { #expect([UInt8](hexadecimal: text) == nil) }
}
