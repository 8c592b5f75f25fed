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
        let (second, millisecond) = Int((timeIntervalSince1970 * 1_000).rounded()).flooredDivision(by: 1_000)
        let time = CivilTime(secondsSince1970: second)
        return "\(time.date)T\(time.timeOfDay).\(millisecond.padded(to: 3))Z"
    }

    private static func seconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
        guard bytes.count >= 20, bytes[bytes.count - 1] == UInt8(ascii: "Z") else { return nil }
        for (index, sign) in zip([4, 7, 10, 13, 16], "--T::".utf8) where bytes[index] != sign { return nil }
        guard let year = number(bytes, 0..<4), let month = number(bytes, 5..<7), let day = number(bytes, 8..<10),
            let hour = number(bytes, 11..<13), let minute = number(bytes, 14..<16),
            let second = number(bytes, 17..<19), year > 0, (1...12).contains(month), (1...31).contains(day), hour < 24,
            minute < 60, second <= 60
        else { return nil }
        let days = CivilTime.daysSince1970(year: year, month: month, day: day)
        let whole = Double(days * 86_400 + hour * 3_600 + minute * 60 + second)
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
}
