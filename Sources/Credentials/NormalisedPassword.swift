// A password in normal form. The API decides whether it is good enough.
import Basics

/// A password by the OpaqueString profile (RFC 8265, 4.2), so that different keyboards produce the same one: spaces
/// outside ASCII become U+0020, then NFC is applied. Case and width stay.
struct NormalisedPassword: Sendable {
    let text: String

    init(_ typed: String) {
        // Nearly all passwords are ASCII, which the profile does not change.
        if typed.utf8.allSatisfy({ $0 < 0x80 }) {
            text = typed
            return
        }
        var spaced = String.UnicodeScalarView()
        spaced.append(
            contentsOf: typed.unicodeScalars.map { scalar in
                scalar.properties.generalCategory == .spaceSeparator ? " " : scalar
            })
        text = String(spaced).composed
    }
}
