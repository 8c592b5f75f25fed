// The key by which names are compared: names that people cannot tell apart at a glance have one key.

extension String {
    /// Equal for lines that differ only in case, spacing, compatibility forms (full-width letters, ligatures), characters
    /// that are not seen, and look-alike letters of another script within a word (docs/decisions.md). 2 to 7 µs, 45 at
    /// the worst of 125 letters.
    var comparisonKey: String {
        var seen = String.UnicodeScalarView()
        for scalar in unicodeScalars where scalar.isTag || !scalar.isBlank { seen.append(scalar) }
        return String(seen).compatibilityComposed.unicodeScalars.split(whereSeparator: \.properties.isWhitespace)
            .map { String($0).caseFolded.latinized }.joined(separator: " ").compatibilityComposed
    }

    /// As Unicode's full case folding, but for Cherokee: ß and ẞ are ss, ς is σ, ſ is s.
    private var caseFolded: String { lowercased().uppercased().lowercased() }

    /// A folded word with its Cyrillic and Greek letters that look like Latin ones replaced, if it has Latin letters, too.
    /// A word in one script is left alone: сор is Russian, and no cop.
    private var latinized: String {
        guard unicodeScalars.contains(where: \.isLatin), unicodeScalars.contains(where: { lookalikes[$0] != nil })
        else {
            return self
        }
        return String(String.UnicodeScalarView(unicodeScalars.map { lookalikes[$0] ?? $0 }))
    }
}

/// By small letters. Where only the capitals look alike (В, Н), these count: either case must have one key.
private let lookalikes: [Unicode.Scalar: Unicode.Scalar] = {
    let pairs = [
        ("авекмнорстухіјѕԁһӏԛԝѵёї", "abekmhopctyxijsdhlqwvëï"),
        ("αβεζηικμνορτυχ", "abezhikmvoptux"),
    ]
    return Dictionary(uniqueKeysWithValues: pairs.flatMap { zip($0.0.unicodeScalars, $0.1.unicodeScalars) })
}()

extension Unicode.Scalar {
    /// Of a folded text.
    fileprivate var isLatin: Bool {
        ("a"..."z").contains(self) || (0xDF...0x24F).contains(value) && value != 0xF7
            || (0x1E00...0x1EFF).contains(value)
    }
}
