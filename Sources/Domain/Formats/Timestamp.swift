// Points in time as RFC 3339 writes them. The current time comes from the database's clock, not from here.
import Basics

/// A point in time, to the microsecond as PostgreSQL stores it.
package struct Timestamp: Hashable, Comparable, Sendable {
    package var microsSince1970: Int64

    package init(microsSince1970: Int64) { self.microsSince1970 = microsSince1970 }

    package static func < (left: Self, right: Self) -> Bool { left.microsSince1970 < right.microsSince1970 }

    /// Reads RFC 3339: `2026-11-21T10:00:00.123Z`, with any fraction (truncated to microseconds) and any offset. A leap
    /// second counts as the second after it. Nil for anything else, and for dates that do not exist.
    package init?(parsing text: some StringProtocol) {
        var reader = DigitReader(bytes: Array(text.utf8))
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), reader.skip("Tt "), let hour = reader.number(2), reader.skip(":"),
            let minute = reader.number(2), reader.skip(":"), let second = reader.number(2), year > 0,
            (1...12).contains(month), (1...CivilTime.dayCount(month: month, year: year)).contains(day), hour < 24,
            minute < 60, second <= 60
        else { return nil }
        var micros = 0
        if reader.skip(".") {
            guard let fraction = reader.fraction() else { return nil }
            micros = fraction
        }
        var offset = 0
        if !reader.skip("Zz") {
            let isEast = reader.skip("+")
            guard isEast || reader.skip("-"), let hours = reader.number(2), reader.skip(":"),
                let minutes = reader.number(2), hours < 24, minutes < 60
            else { return nil }
            offset = (hours * 60 + minutes) * (isEast ? 1 : -1)
        }
        guard reader.isAtEnd else { return nil }
        let days = CivilTime.daysSince1970(year: year, month: month, day: day)
        let seconds = ((days * 24 + hour) * 60 + minute - offset) * 60 + second
        self.init(microsSince1970: Int64(seconds * 1_000_000 + micros))
    }
}

extension Timestamp: CustomStringConvertible {
    /// The text in UTC with milliseconds, truncated and not rounded, for years 0 to 9999.
    package var description: String {
        String(unsafeUninitializedCapacity: Self.textByteCount) { write(to: $0) }
    }

    static var textByteCount: Int { 24 }

    /// Writes the same, and returns its length.
    func write(to buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let millis = Int(microsSince1970).flooredDivision(by: 1_000).quotient.flooredDivision(by: 1_000)
        let time = CivilTime(secondsSince1970: millis.quotient)
        var at = 0
        func write(_ number: Int, digitCount: Int, then end: Unicode.Scalar) {
            var rest = number
            for place in (at..<at + digitCount).reversed() {
                buffer[place] = Byte.zero + UInt8(rest % 10)
                rest /= 10
            }
            buffer[at + digitCount] = UInt8(ascii: end)
            at += digitCount + 1
        }
        write(time.year, digitCount: 4, then: "-")
        write(time.month, digitCount: 2, then: "-")
        write(time.day, digitCount: 2, then: "T")
        write(time.hour, digitCount: 2, then: ":")
        write(time.minute, digitCount: 2, then: ":")
        write(time.second, digitCount: 2, then: ".")
        write(millis.remainder, digitCount: 3, then: "Z")
        return at
    }
}

private struct DigitReader {
    let bytes: [UInt8]
    private var at = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { at == bytes.count }

    /// Reads exactly `digitCount` digits.
    mutating func number(_ digitCount: Int) -> Int? {
        guard at + digitCount <= bytes.count else { return nil }
        var value: Int = 0
        for byte in bytes[at..<(at + digitCount)] {
            guard (Byte.zero...Byte.nine).contains(byte) else { return nil }
            value = value * 10 + Int(byte - Byte.zero)
        }
        at += digitCount
        return value
    }

    /// Skips one of these characters.
    mutating func skip(_ choices: StaticString) -> Bool {
        guard at < bytes.count else { return false }
        for index in 0..<choices.utf8CodeUnitCount where choices.utf8Start[index] == bytes[at] {
            at += 1
            return true
        }
        return false
    }

    /// Reads the digits after the point as microseconds; nil if there are none.
    mutating func fraction() -> Int? {
        var micros: Int = 0
        var unit: Int = 100_000
        let start = at
        while at < bytes.count, (Byte.zero...Byte.nine).contains(bytes[at]) {
            micros += Int(bytes[at] - Byte.zero) * unit
            unit /= 10
            at += 1
        }
        return at > start ? micros : nil
    }
}
