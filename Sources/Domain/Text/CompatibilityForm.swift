// Unicode's normal form KC: form C with compatibility characters, such as full-width letters and ligatures, replaced.
import Basics

extension String {
    /// In normal form KC.
    var compatibilityComposed: String {
        // All characters with a replacement are U+00A0 or later.
        if utf8.allSatisfy({ $0 < 0x80 }) { return self }
        var replaced = UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar.value >= 0xA0, let usual = replacements[scalar] {
                replaced.append(contentsOf: usual.unicodeScalars)
            } else {
                replaced.append(scalar)
            }
        }
        return String(replaced).composed
    }
}

/// The whole decomposition of each compatibility character. Made at first use, in 1 ms.
private let replacements: [Unicode.Scalar: String] = {
    var replacements: [Unicode.Scalar: String] = [:]
    for entry in compatibilityTable.split(whereSeparator: \.isWhitespace) {
        let sides = entry.split(separator: ":")
        let sources = sides[0].split(separator: "-").compactMap { UInt32($0, radix: 16) }
        let targets = sides[1].split(separator: "+").compactMap { UInt32($0, radix: 16) }
        for source in sources[0]...sources[sources.count - 1] {
            // The scalars of a range have consecutive replacements.
            let usual = targets.compactMap { Unicode.Scalar($0 + (source - sources[0])) }
            if let scalar = Unicode.Scalar(source) { replacements[scalar] = String(String.UnicodeScalarView(usual)) }
        }
    }
    return replacements
}()
