// The wall clock, as tokens and mails have it.
import Foundation

enum UnixTime {
    /// Whole seconds since 1970.
    static var now: Int { Int(Date().timeIntervalSince1970) }
}
