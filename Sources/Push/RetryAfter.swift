// The Retry-After header (RFC 9110, section 10.2.3).
import Domain
import Outbound

extension TransferAnswer {
    /// No alert lives longer.
    private static let waitSMax = 86_400

    /// Reads seconds or a date. Returns nil without the header, or if it can't be read.
    ///
    /// - Parameter now: seconds since 1970.
    package func retryAfter(now: Int) -> Duration? {
        guard let text = headers["retry-after"]?.trimmed else { return nil }
        let seconds: Int?
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            seconds = Int(text) ?? Self.waitSMax
        } else {
            seconds = Self.date(text).map { $0 - now }
        }
        return seconds.map { .seconds(min(max($0, 0), Self.waitSMax)) }
    }

    /// Returns `Sun, 22 Nov 2026 00:48:54 GMT` as seconds since 1970. Servers no longer send the older forms.
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
