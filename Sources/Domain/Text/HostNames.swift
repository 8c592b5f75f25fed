// Host names in other scripts as the DNS writes them: IDNA (RFC 5891) with Punycode (RFC 3492). Written by hand,
// because Foundation's IDNA is absent when Foundation is linked statically.

extension String {
    /// A host name in ASCII and lower case; labels in other scripts become `xn--…`. Nil if a label has other characters
    /// than letters, marks, digits and hyphens. Rules for single scripts are left to the DNS.
    package var asciiHostName: String? {
        if utf8.allSatisfy({ $0 < 0x80 }) { return lowercased() }
        // The usual mapping (RFC 5895): lower case, compatibility characters replaced, form C.
        let mapped = lowercased().compatibilityComposed.lowercased().replacing("\u{3002}", with: ".")
        var labels: [String] = []
        for label in mapped.split(separator: ".", omittingEmptySubsequences: false) {
            let scalars = Array(label.unicodeScalars)
            if scalars.allSatisfy(\.isASCII) {
                labels.append(String(label))
                continue
            }
            guard scalars.allSatisfy(\.isLabelPart), let code = Punycode.encode(scalars) else { return nil }
            labels.append("xn--" + code)
        }
        return labels.joined(separator: ".")
    }
}

extension Unicode.Scalar {
    fileprivate var isLabelPart: Bool {
        switch properties.generalCategory {
        case .lowercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark, .decimalNumber: true
        default: self == "-"
        }
    }
}

/// RFC 3492, with its parameters for host names (5).
enum Punycode {
    private static let base: UInt32 = 36
    private static let tMin: UInt32 = 1
    private static let tMax: UInt32 = 26
    /// Prevents overflow. A label has at most 63 characters.
    private static let scalarCountMax = 63

    /// Returns nil for a text that is too long for a label.
    static func encode(_ scalars: [Unicode.Scalar]) -> String? {
        guard scalars.count <= scalarCountMax else { return nil }
        let basic = scalars.filter(\.isASCII)
        var output = String(String.UnicodeScalarView(basic))
        if !basic.isEmpty { output += "-" }
        var (bias, delta, next): (UInt32, UInt32, UInt32) = (72, 0, 128)
        var handledCount = UInt32(basic.count)
        while handledCount < scalars.count {
            let smallest = scalars.map(\.value).filter { $0 >= next }.min() ?? next
            delta += (smallest - next) * (handledCount + 1)
            next = smallest
            for scalar in scalars {
                if scalar.value < next { delta += 1 }
                guard scalar.value == next else { continue }
                output += digits(of: delta, bias: bias)
                bias = adapted(delta, count: handledCount + 1, isFirst: handledCount == basic.count)
                delta = 0
                handledCount += 1
            }
            delta += 1
            next += 1
        }
        return output
    }

    /// A number as digits of varying weight, the lowest first (3.3).
    private static func digits(of number: UInt32, bias: UInt32) -> String {
        var rest = number
        var text = ""
        var k = base
        while true {
            let threshold = k <= bias + tMin ? tMin : min(tMax, k - bias)
            if rest < threshold { return text + digit(rest) }
            text += digit(threshold + (rest - threshold) % (base - threshold))
            rest = (rest - threshold) / (base - threshold)
            k += base
        }
    }

    private static func digit(_ value: UInt32) -> String {
        String(Unicode.Scalar(UInt8(value < 26 ? value + 0x61 : value - 26 + 0x30)))
    }

    /// The next bias (3.4).
    private static func adapted(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var k: UInt32 = 0
        while delta > (base - tMin) * tMax / 2 {
            delta /= base - tMin
            k += base
        }
        return k + (base - tMin + 1) * delta / (delta + 38)
    }
}
