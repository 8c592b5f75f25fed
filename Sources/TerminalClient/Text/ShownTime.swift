// Times and sizes for people.
import Foundation

extension Calendar {
    /// "14:02".
    func shownTime(_ date: Date) -> String {
        let parts = dateComponents([.hour, .minute], from: date)
        return Self.twoDigits(parts.hour) + ":" + Self.twoDigits(parts.minute)
    }

    /// "Monday, 23 November 2026".
    func shownDay(_ date: Date) -> String {
        let parts = dateComponents([.weekday, .day, .month, .year], from: date)
        let weekday = Self.weekdays[((parts.weekday ?? 1) - 1) % 7]
        let month = Self.months[((parts.month ?? 1) - 1) % 12]
        return "\(weekday), \(parts.day ?? 0) \(month) \(parts.year ?? 0)"
    }

    /// As short as it is clear: "14:02", "Mon", "23 Nov", "2025-11-23".
    func shownShortly(_ date: Date, now: Date) -> String {
        if isDate(date, inSameDayAs: now) { return shownTime(date) }
        let parts = dateComponents([.weekday, .day, .month, .year], from: date)
        let age = now.timeIntervalSince(date)
        if age > 0, age < 6 * 86_400 { return String(Self.weekdays[((parts.weekday ?? 1) - 1) % 7].prefix(3)) }
        if parts.year == component(.year, from: now) {
            return "\(parts.day ?? 0) \(Self.months[((parts.month ?? 1) - 1) % 12].prefix(3))"
        }
        return "\(parts.year ?? 0)-\(Self.twoDigits(parts.month))-\(Self.twoDigits(parts.day))"
    }

    private static func twoDigits(_ number: Int?) -> String {
        let number = number ?? 0
        return number < 10 ? "0\(number)" : "\(number)"
    }

    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
}

/// "812 bytes", "12 KB", "3.4 MB".
func shownSize(_ byteCount: Int) -> String {
    switch byteCount {
    case ..<1_000: return "\(byteCount) bytes"
    case ..<1_000_000: return "\((byteCount + 500) / 1_000) KB"
    default:
        let tenths = (byteCount + 50_000) / 100_000
        return "\(tenths / 10).\(tenths % 10) MB"
    }
}
