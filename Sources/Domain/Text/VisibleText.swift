// Rules for lines that are shown as names: a name must be visible and must not change how the text around it reads.
// They do not apply to message texts.

extension String {
    /// Throws unless the line can be shown as a name.
    ///
    /// It refuses control characters and line breaks, characters that change the direction of text (Unicode's
    /// Bidi_Control), tag characters outside an emoji flag, invisible characters where no script or emoji needs them,
    /// more than `markCountMax` marks on a letter, and a line without a visible character.
    func checkShowable() throws(Invalid) {
        let line = NameScan(self)
        if let fault = line.first(of: [.lineBreak, .direction, .tag]) { throw fault.refusal }
        guard unicodeScalars.contains(where: \.isVisible) else {
            throw Invalid("Must have at least one visible character.")
        }
        if let fault = line.first(of: [.invisible, .mark]) { throw fault.refusal }
    }

    /// The line without what `checkShowable` refuses: invisible characters and surplus marks are removed, and spaces
    /// stand in place of the others. Nothing visible may remain.
    package var showable: String {
        var scan = NameScan(self)
        // A joiner beside a removed character may no longer be needed.
        while !scan.faults.isEmpty { scan = NameScan(scan.mended) }
        return String(String.UnicodeScalarView(scan.scalars))
    }
}

/// The characters of a line with those that a name may not have.
private struct NameScan {
    /// Nonspacing and enclosing marks that a letter may carry, in normal form C. Hebrew with cantillation, Tibetan and
    /// Burmese have up to four. More cover the lines above and below.
    static let markCountMax = 4

    struct Fault {
        enum Kind: Hashable { case lineBreak, direction, tag, invisible, mark }

        let kind: Kind
        let index: Int
        let scalar: Unicode.Scalar

        var refusal: Invalid {
            switch kind {
            case .lineBreak: Invalid("Must have no control characters or line breaks.")
            case .direction: Invalid("Must not have \(scalar.codePoint), which changes the direction of text.")
            case .tag: Invalid("Must not have \(scalar.codePoint), a tag character, outside of a flag.")
            case .invisible: Invalid("Must not have \(scalar.codePoint), an invisible character, in this place.")
            case .mark: Invalid("Must have at most \(NameScan.markCountMax) marks, such as accents, on a letter.")
            }
        }
    }

    let scalars: [Unicode.Scalar]
    private(set) var faults: [Fault] = []

    init(_ line: String) { self.init(Array(line.unicodeScalars)) }

    init(_ scalars: [Unicode.Scalar]) {
        self.scalars = scalars
        var markCount = 0
        var endOfFlag = 0
        for (index, scalar) in scalars.enumerated() {
            if scalar == "\u{1F3F4}" { endOfFlag = index + 1 + tagCount(after: index) }
            let kind: Fault.Kind? =
                if scalar.isASCII {
                    scalar.breaksLine ? .lineBreak : nil
                } else if scalar.isTag {
                    index < endOfFlag ? nil : .tag
                } else if scalar.breaksLine {
                    .lineBreak
                } else if scalar.properties.isBidiControl {
                    .direction
                } else if scalar.isAnnotation || scalar.properties.isDefaultIgnorableCodePoint {
                    isNeeded(index) ? nil : .invisible
                } else if scalar.isStackedMark {
                    markCount < Self.markCountMax ? nil : .mark
                } else {
                    nil
                }
            if let kind { faults.append(Fault(kind: kind, index: index, scalar: scalar)) }
            // A joiner or a spacing mark does not begin a letter.
            if scalar.isStackedMark {
                markCount += 1
            } else if !scalar.isMark, !scalar.properties.isDefaultIgnorableCodePoint {
                markCount = 0
            }
        }
    }

    func first(of kinds: Set<Fault.Kind>) -> Fault? { faults.first { kinds.contains($0.kind) } }

    var mended: [Unicode.Scalar] {
        var next = faults[...]
        return scalars.enumerated().compactMap { index, scalar -> Unicode.Scalar? in
            guard let fault = next.first, fault.index == index else { return scalar }
            next.removeFirst()
            return switch fault.kind {
            case .invisible, .mark: nil
            case .lineBreak, .direction, .tag: " "
            }
        }
    }

    /// The tag characters behind a black flag that name a region; 0 if they do not.
    private func tagCount(after index: Int) -> Int {
        let tags = scalars[(index + 1)...].prefix(while: \.isTag)
        return tags.isRegionOfFlag ? tags.count : 0
    }

    /// Whether a script or an emoji needs the invisible character in this place.
    private func isNeeded(_ index: Int) -> Bool {
        guard index > 0 else { return false }
        let next = index + 1 < scalars.count ? scalars[index + 1] : nil
        return scalars[index].isNeeded(between: scalars[index - 1], and: next)
    }
}

extension ArraySlice<Unicode.Scalar> {
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

    fileprivate var isMark: Bool { isStackedMark || properties.generalCategory == .spacingMark }

    /// Whether it is drawn above, below or around the letter before it.
    fileprivate var isStackedMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark: !properties.isDefaultIgnorableCodePoint
        default: false
        }
    }

    /// Interlinear annotations: their text is hidden or shown elsewhere.
    fileprivate var isAnnotation: Bool { (0xFFF9...0xFFFB).contains(value) }

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
