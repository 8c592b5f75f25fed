// Rules for lines that are shown as names: a name must be visible and must not change how the text around it reads.
// They do not apply to message texts.

extension String {
    /// Throws unless the line can be shown as a name.
    ///
    /// It refuses control characters and line breaks, characters that change the direction of text (Unicode's
    /// Bidi_Control), tag characters outside an emoji flag, and a line without a visible character.
    func checkShowable() throws(Invalid) {
        if unicodeScalars.contains(where: \.breaksLine) {
            throw Invalid("Must have no control characters or line breaks.")
        }
        if let scalar = unicodeScalars.first(where: \.properties.isBidiControl) {
            throw Invalid("Must not have \(scalar.codePoint), which changes the direction of text.")
        }
        if let scalar = firstStrayTag {
            throw Invalid("Must not have \(scalar.codePoint), a tag character, outside of a flag.")
        }
        guard unicodeScalars.contains(where: \.isVisible) else {
            throw Invalid("Must have at least one visible character.")
        }
    }

    /// The line with spaces in place of the characters that `checkShowable` refuses. Nothing visible may remain.
    package var showable: String {
        let hasStrayTag = firstStrayTag != nil
        var line = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            let isRefused = scalar.breaksLine || scalar.properties.isBidiControl || hasStrayTag && scalar.isTag
            line.append(isRefused ? " " : scalar)
        }
        return String(line)
    }

    /// The first tag character that is not part of a flag.
    private var firstStrayTag: Unicode.Scalar? {
        var rest = unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar.isTag { return scalar }
            guard scalar == "\u{1F3F4}" else { continue }
            let tags = rest.prefix(while: \.isTag)
            guard tags.isEmpty || tags.isRegionOfFlag else { return tags.first }
            rest = rest[tags.endIndex...]
        }
        return nil
    }
}

extension Substring.UnicodeScalarView {
    /// Whether these tags after a black flag name a region: 3 to 6 letters or digits, then the end tag (UTS #51,
    /// ED-14a).
    fileprivate var isRegionOfFlag: Bool {
        let region = dropLast()
        return last == "\u{E007F}" && (3...6).contains(region.count)
            && region.allSatisfy { (0xE0030...0xE0039).contains($0.value) || (0xE0061...0xE007A).contains($0.value) }
    }
}

extension Unicode.Scalar {
    var isTag: Bool { (0xE0000...0xE007F).contains(value) }

    /// Invisible, although not white space: fillers, joiners, selectors, and symbols that are drawn empty.
    var isBlank: Bool { properties.isDefaultIgnorableCodePoint || Self.emptySymbols.contains(self) }

    /// A blank Braille pattern, a null notehead, two blank hieroglyphs.
    private static let emptySymbols: Set<Unicode.Scalar> = ["\u{2800}", "\u{1D159}", "\u{13441}", "\u{13442}"]

    /// Whether it is visible by itself. A mark without its letter is not.
    fileprivate var isVisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .surrogate, .spaceSeparator, .lineSeparator, .paragraphSeparator, .nonspacingMark,
            .spacingMark, .enclosingMark:
            false
        default: !isBlank
        }
    }

    fileprivate var breaksLine: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// `U+202E`.
    fileprivate var codePoint: String {
        let digits = String(value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
