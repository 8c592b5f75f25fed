// Instants as RFC 3339 writes them. What time it is comes from the clock of the database, not from here.

/// An instant, to the microsecond as PostgreSQL keeps it.
package struct Timestamp: Hashable, Comparable, Sendable {
    package var microsSince1970: Int64

    package init(microsSince1970: Int64) { self.microsSince1970 = microsSince1970 }

    package static func < (left: Self, right: Self) -> Bool { left.microsSince1970 < right.microsSince1970 }

    /// Reads RFC 3339: `2026-11-21T10:00:00.123Z`, with any fraction (cut to microseconds) and any offset. A leap second
    /// is the second after. Nil for anything else, dates that don't exist included.
    package init?(parsing text: some StringProtocol) {
        var reader = DigitReader(bytes: Array(text.utf8))
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), reader.skip("Tt "), let hour = reader.number(2), reader.skip(":"),
            let minute = reader.number(2), reader.skip(":"), let second = reader.number(2), year > 0,
            (1...12).contains(month), (1...Self.dayCount(month: month, year: year)).contains(day), hour < 24,
            minute < 60, second <= 60
        else { return nil }
        var micros: Int64 = 0
        if reader.skip(".") {
            guard let fraction = reader.fraction() else { return nil }
            micros = fraction
        }
        var offset: Int64 = 0
        if !reader.skip("Zz") {
            let isEast = reader.skip("+")
            guard isEast || reader.skip("-"), let hours = reader.number(2), reader.skip(":"),
                let minutes = reader.number(2), hours < 24, minutes < 60
            else { return nil }
            offset = (hours * 60 + minutes) * (isEast ? 1 : -1)
        }
        guard reader.isAtEnd else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        let seconds = ((days * 24 + hour) * 60 + minute - offset) * 60 + second
        self.init(microsSince1970: seconds * 1_000_000 + micros)
    }

    private static func dayCount(month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 1 January 1970, by counting years from March, so that the leap day comes last.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }
}

extension Timestamp: CustomStringConvertible {
    /// In UTC with milliseconds, cut and not rounded. For years 0 to 9999.
    package var description: String {
        let millis = microsSince1970.flooredDivision(by: 1_000)
        let days = millis.quotient.flooredDivision(by: 86_400_000)
        // The reverse of `days(year:month:day:)`, in eras of 400 years.
        let era = (days.quotient + 719_468).flooredDivision(by: 146_097)
        let dayOfEra = era.remainder
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era.quotient * 400 + (month <= 2 ? 1 : 0)
        let time = days.remainder
        func digits(_ value: Int64, _ count: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(dayOfYear - (153 * marchMonth + 2) / 5 + 1, 2))T"
            + "\(digits(time / 3_600_000, 2)):\(digits(time / 60_000 % 60, 2)):\(digits(time / 1_000 % 60, 2))"
            + ".\(digits(time % 1_000, 3))Z"
    }
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

private struct DigitReader {
    let bytes: [UInt8]
    private var at = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { at == bytes.count }

    /// Exactly so many digits.
    mutating func number(_ digitCount: Int) -> Int64? {
        guard at + digitCount <= bytes.count else { return nil }
        var value: Int64 = 0
        for byte in bytes[at..<(at + digitCount)] {
            guard (Byte.zero...Byte.nine).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - Byte.zero)
        }
        at += digitCount
        return value
    }

    /// One of these characters.
    mutating func skip(_ choices: StaticString) -> Bool {
        guard at < bytes.count else { return false }
        for index in 0..<choices.utf8CodeUnitCount where choices.utf8Start[index] == bytes[at] {
            at += 1
            return true
        }
        return false
    }

    /// The digits after the point in microseconds; nil for none.
    mutating func fraction() -> Int64? {
        var micros: Int64 = 0
        var unit: Int64 = 100_000
        let start = at
        while at < bytes.count, (Byte.zero...Byte.nine).contains(bytes[at]) {
            micros += Int64(bytes[at] - Byte.zero) * unit
            unit /= 10
            at += 1
        }
        return at > start ? micros : nil
    }
}
