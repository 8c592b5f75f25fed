// The text of the `Date` header (RFC 9110, 5.6.7), without Foundation.

import Basics

/// IMF-fixdate, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    static func now() -> String { text(secondsSinceEpoch: WallClock.seconds) }

    static func text(secondsSinceEpoch: Int) -> String {
        let time = CivilTime(secondsSince1970: secondsSinceEpoch)
        return "\(time.weekdayName), \(time.day.padded(to: 2)) \(time.monthName) \(time.year) \(time.timeOfDay) GMT"
    }
}
