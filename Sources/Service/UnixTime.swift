// The wall clock, as tokens and mails have it.
import Foundation

enum UnixTime {
    /// Whole seconds since 1970.
    static var now: Int { Int(Date().timeIntervalSince1970) }
    static var nowMs: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
}
