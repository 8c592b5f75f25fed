// Times of the contract: RFC 3339 in UTC with milliseconds, `2026-11-21T10:00:00.123Z`.
//
// Written by hand for two reasons. A list of 1,000 threads has 4,000 times. And ISO8601FormatStyle cuts the
// milliseconds of a Date, which is a binary fraction, so that .123 becomes .122 after a round trip.
import Foundation

extension Date {
    /// Reads `YYYY-MM-DDTHH:MM:SSZ`, with a fraction of at most nine digits or none. Nil for any other form.
    init?(rfc3339 text: String) {
        var text = text
        guard let seconds = text.withUTF8(Self.seconds) else { return nil }
        self.init(timeIntervalSince1970: seconds)
    }

    /// `2026-11-21T10:00:00.123Z`, rounded to milliseconds.
    var rfc3339: String {
        let (second, millisecond) = Self.divide(Int((timeIntervalSince1970 * 1000).rounded()), 1000)
        let (day, secondOfDay) = Self.divide(second, 86_400)
        let (year, month, dayOfMonth) = Self.civil(day)
        let time = [secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60].map { Self.padded($0, 2) }
        let date = [Self.padded(year, 4), Self.padded(month, 2), Self.padded(dayOfMonth, 2)]
        return "\(date.joined(separator: "-"))T\(time.joined(separator: ":")).\(Self.padded(millisecond, 3))Z"
    }

    private static func seconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
        guard bytes.count >= 20, bytes[bytes.count - 1] == UInt8(ascii: "Z") else { return nil }
        for (index, sign) in zip([4, 7, 10, 13, 16], "--T::".utf8) where bytes[index] != sign { return nil }
        guard let year = number(bytes, 0..<4), let month = number(bytes, 5..<7), let day = number(bytes, 8..<10),
            let hour = number(bytes, 11..<13), let minute = number(bytes, 14..<16),
            let second = number(bytes, 17..<19), (1...12).contains(month), (1...31).contains(day), hour < 24,
            minute < 60, second <= 60
        else { return nil }
        let whole = Double(days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
        let digits = bytes.count - 21
        guard digits > 0 else { return bytes.count == 20 ? whole : nil }
        guard bytes[19] == UInt8(ascii: "."), digits <= 9, let fraction = number(bytes, 20..<20 + digits)
        else { return nil }
        return whole + Double(fraction) / scales[digits]
    }

    private static let scales: [Double] = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]

    private static func number(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Int? {
        var number = 0
        for index in range {
            let digit = Int(bytes[index]) - 48
            guard (0...9).contains(digit) else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// The days from 1970-01-01, in the Gregorian calendar. Years begin in March here: the leap day is the last one.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let (era, yearOfEra) = divide(year, 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The date of a day: the inverse of `days`.
    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = divide(days + 719_468, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        return (era * 400 + yearOfEra + (month >= 10 ? 1 : 0), (month + 2) % 12 + 1, day)
    }

    /// Division that rounds down, also for negative numbers.
    private static func divide(_ number: Int, _ by: Int) -> (Int, Int) {
        let remainder = (number % by + by) % by
        return ((number - remainder) / by, remainder)
    }

    private static func padded(_ number: Int, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
