// Codes that are mailed.
import Testing

@testable import Credentials

@Suite("One-time codes", .timeLimit(.minutes(1)))
struct OneTimeCodes {
    @Test("are six digits, all equally frequent in each place")
    func spread() {
        var counts = [[Int]](repeating: [Int](repeating: 0, count: 10), count: 6)
        let count = 20_000
        for _ in 0..<count {
            let text = OneTimeCode.random().text
            #expect(text.utf8.count == 6)
            for (place, digit) in text.utf8.enumerated() { counts[place][Int(digit) - 48] += 1 }
        }
        // Six standard deviations, of which one is 42.
        #expect(counts.joined().allSatisfy { abs($0 - count / 10) < 260 }, "\(counts)")
    }

    @Test("keep their zeros, and are never printed by accident")
    func text() {
        #expect(OneTimeCode(42).text == "000042" && OneTimeCode(999_999).text == "999999")
        var dumped = ""
        dump(OneTimeCode(123_456), to: &dumped)
        #expect(!"\(OneTimeCode(123_456)) \(dumped)".contains("123456"))
    }
}
