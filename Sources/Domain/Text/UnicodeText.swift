// Operations on all texts for people: normal form, trimming, folding, words.
import Basics

extension String {
    /// In Unicode's normal form C, so that text typed on different devices is equal if it looks equal.
    package var normalized: String { composed }

    /// Without white space at either end.
    package var trimmed: String {
        guard let first = unicodeScalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = unicodeScalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(unicodeScalars[first...last])
    }

    /// For comparing texts that differ only in case and spacing: lower case, one space for inner white space, form C.
    package var folded: String {
        lowercased().unicodeScalars.split(whereSeparator: \.properties.isWhitespace)
            .map { String($0) }.joined(separator: " ").normalized
    }

    /// The runs of letters and digits (with the marks of letters) in the folded text.
    package var words: [String] {
        folded.unicodeScalars.split { !$0.isWordPart }.map { String($0) }
    }

    /// Trimmed and in form C. Refuses a line that is empty, too long, or misleading as a name (`checkShowable`).
    ///
    /// Characters are counted as Unicode code points, as JSON Schema's `maxLength` does. A visible character may have
    /// any number of code points, so counting visible characters would bound nothing.
    static func singleLine(_ text: String, characterCountMax: Int) throws(Invalid) -> String {
        // Bounds the work of normalizing. Form C is at most three times shorter than the text typed.
        guard text.utf8.count <= 16 * characterCountMax + 1024 else { throw .tooLong(characterCountMax) }
        let line = text.trimmed.normalized
        if line.isEmpty { throw Invalid("Must not be empty.") }
        if line.unicodeScalars.count > characterCountMax { throw .tooLong(characterCountMax) }
        try line.checkShowable()
        return line
    }
}

extension Invalid {
    fileprivate static func tooLong(_ characterCountMax: Int) -> Invalid {
        Invalid("Must have at most \(characterCountMax) characters.")
    }
}

extension Unicode.Scalar {
    fileprivate var isWordPart: Bool {
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .decimalNumber, .letterNumber, .otherNumber:
            true
        default: false
        }
    }
}

extension UInt8 {
    /// Whether this is an ASCII letter or digit.
    package var isAlphanumeric: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
