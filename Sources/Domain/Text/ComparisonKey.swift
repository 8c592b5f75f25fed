// The key by which names are compared: names that look alike have the same key.

extension String {
    /// Equal for lines that differ only in case, spacing, compatibility forms (full-width letters, ligatures),
    /// invisible characters, and look-alike letters of another script within a word (docs/decisions/security.md). 2 to 7 µs; 45
    /// µs at worst, for 125 letters.
    var comparisonKey: String {
        var seen = String.UnicodeScalarView()
        for scalar in unicodeScalars where scalar.isTag || !scalar.isBlank { seen.append(scalar) }
        return String(seen).compatibilityComposed.unicodeScalars.split(whereSeparator: \.properties.isWhitespace)
            .map { String($0).caseFolded.latinized }.joined(separator: " ").compatibilityComposed
    }

    /// Unicode's full case folding, except for Cherokee: ß and ẞ become ss, ς becomes σ, ſ becomes s.
    private var caseFolded: String { lowercased().uppercased().lowercased() }

    /// A folded word whose Cyrillic and Greek look-alikes are replaced by Latin letters, if it has Latin letters as
    /// well. A word in one script stays as it is: сор is a Russian word, and not "cop".
    private var latinized: String {
        guard unicodeScalars.contains(where: \.isLatin), unicodeScalars.contains(where: { lookalikes[$0] != nil })
        else {
            return self
        }
        return String(String.UnicodeScalarView(unicodeScalars.map { lookalikes[$0] ?? $0 }))
    }
}

/// Latin letters by their look-alikes, in lower case. Some look alike only as capitals (В, Н); they are here too,
/// because both cases must have one key.
private let lookalikes: [Unicode.Scalar: Unicode.Scalar] = {
    let pairs = [
        ("авекмнорстухіјѕԁһӏԛԝѵёї", "abekmhopctyxijsdhlqwvëï"),
        ("αβεζηικμνορτυχ", "abezhikmvoptux"),
    ]
    return Dictionary(uniqueKeysWithValues: pairs.flatMap { zip($0.0.unicodeScalars, $0.1.unicodeScalars) })
}()

extension Unicode.Scalar {
    /// This is right for scalars of a folded text.
    fileprivate var isLatin: Bool {
        ("a"..."z").contains(self) || (0xDF...0x24F).contains(value) && value != 0xF7
            || (0x1E00...0x1EFF).contains(value)
    }
}
