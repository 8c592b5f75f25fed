// The `Date` header's text (RFC 9110, 5.6.7), without Foundation.

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// IMF-fixdate, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    static func now() -> String { text(secondsSinceEpoch: time(nil)) }

    /// - Parameter secondsSinceEpoch: Unix time, not negative.
    static func text(secondsSinceEpoch: Int) -> String {
        let day = secondsSinceEpoch / 86_400
        let second = secondsSinceEpoch % 86_400
        // Years counted from 1 March 0000, so that the leap day is a year's last (Hinnant, "civil_from_days").
        let shifted = day + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let clock = "\(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60))"
        return "\(days[day % 7]), \(two(dayOfMonth)) \(months[month - 1]) \(year) \(clock) GMT"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
