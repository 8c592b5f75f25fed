// When a service wants to be asked again (RFC 9110, section 10.2.3).
import Domain
import Outbound

extension TransferAnswer {
    /// Longer than an alert lives nobody waits.
    private static let waitSMax = 86_400

    /// In seconds or as a date; nil without one, or with one that can't be read.
    /// - now: seconds since 1970.
    func retryAfter(now: Int) -> Duration? {
        guard let text = headers["retry-after"]?.trimmed else { return nil }
        let seconds: Int?
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            seconds = Int(text) ?? Self.waitSMax
        } else {
            seconds = Self.date(text).map { $0 - now }
        }
        return seconds.map { .seconds(min(max($0, 0), Self.waitSMax)) }
    }

    /// `Sun, 22 Nov 2026 00:48:54 GMT`, in seconds since 1970. Older forms haven't been sent for decades.
    private static func date(_ text: String) -> Int? {
        let parts = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, parts[1].utf8.count == 2, parts[5] == "GMT",
            let month = months.firstIndex(of: String(parts[2]))
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        let time = Timestamp(parsing: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
        return time.map { Int($0.microsSince1970 / 1_000_000) }
    }
}
