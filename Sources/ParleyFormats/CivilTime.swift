// The calendar: seconds since 1970 to year, month, day and time of day in UTC, and back. No time zones, no leap
// seconds.

/// A date and time of day in UTC by the Gregorian calendar.
package struct CivilTime: Equatable, Sendable {
    package let year: Int
    /// The month, counted from 1.
    package let month: Int
    /// The day of the month, counted from 1.
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int
    /// The day of the week, counted from 0 for Sunday.
    package let weekday: Int

    /// Any number of seconds, also negative (Hinnant, "civil_from_days").
    package init(secondsSince1970: Int) {
        let days = secondsSince1970.flooredDivision(by: 86_400)
        // Years begin on 1 March, so that a leap day is a year's last; an era has 400 years.
        let era = (days.quotient + 719_468).flooredDivision(by: 146_097)
        let dayOfEra = era.remainder
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era.quotient * 400 + (month <= 2 ? 1 : 0)
        hour = days.remainder / 3_600
        minute = days.remainder / 60 % 60
        second = days.remainder % 60
        weekday = (days.quotient + 4).flooredDivision(by: 7).remainder
    }

    /// Days from 1 January 1970 to a date of the year 1 or later: the reverse of the above.
    package static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }

    package static func dayCount(month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// `Sun`, as in the headers of HTTP and mail.
    package var weekdayName: String { ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][weekday] }

    /// `Nov`, as in the headers of HTTP and mail.
    package var monthName: String {
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][month - 1]
    }

    /// `2026-11-21`. For years 0 to 9999.
    package var date: String { "\(year.padded(to: 4))-\(month.padded(to: 2))-\(day.padded(to: 2))" }

    /// `08:49:37`.
    package var timeOfDay: String { "\(hour.padded(to: 2)):\(minute.padded(to: 2)):\(second.padded(to: 2))" }
}

extension Int {
    /// The number with zeros before it. Not for negative numbers.
    package func padded(to digitCount: Int) -> String {
        let text = String(self)
        return String(repeating: "0", count: Swift.max(0, digitCount - text.count)) + text
    }

    /// The quotient rounded down, and a remainder that is never negative.
    package func flooredDivision(by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
