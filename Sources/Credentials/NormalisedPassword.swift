// One password, however it was typed. Whether it is good enough is the API's question.

import Foundation

/// A password by the OpaqueString profile (RFC 8265, 4.2), so that keyboards which compose "é" differently, or type
/// another kind of space, give the same one: spaces outside ASCII become U+0020, then NFC. Case and width stay.
struct NormalisedPassword: Sendable {
    let text: String

    init(_ typed: String) {
        // Nearly all passwords are ASCII, which the profile leaves as it is.
        if typed.utf8.allSatisfy({ $0 < 0x80 }) {
            text = typed
            return
        }
        var spaced = String.UnicodeScalarView()
        spaced.append(
            contentsOf: typed.unicodeScalars.map { scalar in
                scalar.properties.generalCategory == .spaceSeparator ? " " : scalar
            })
        text = String(spaced).precomposedStringWithCanonicalMapping
    }
}
