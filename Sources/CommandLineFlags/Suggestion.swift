// "Did you mean …?": finds the known names that a mistyped name is nearest to.

package enum Suggestion {
    /// At most this many names are suggested, and longer input gets none.
    static let (nameCountMax, characterCountMax) = (3, 64)

    /// Returns " Did you mean `a`?", or an empty string if no name is near.
    package static func question(_ typed: String, among names: [String]) -> String {
        question(named: near(typed, among: names))
    }

    /// Returns the same for names that are known to be near.
    package static func question(named near: [String]) -> String {
        guard let last = near.last else { return "" }
        let list = near.count == 1 ? last : near.dropLast().joined(separator: ", ") + " or " + last
        return " Did you mean \(list)?"
    }

    /// Returns the names that differ least from the typed one, in the order of `names`. Names that differ by a typing
    /// mistake come first. Without one, names that have all the typed words and the fewest others: `--http-port` for
    /// `--port`.
    package static func near(_ typed: String, among names: [String]) -> [String] {
        let word = bare(typed)
        guard word.count >= 2, word.count <= characterCountMax else { return [] }
        let mistyped = best(names) { name in
            let distance = distance(word, bare(name))
            return distance <= word.count / 3 || distance == 1 && word.count > 2 ? distance : nil
        }
        if !mistyped.isEmpty { return mistyped }
        return best(names) { wordDifference(word, from: bare($0)) }
    }

    /// Returns the names with the lowest score; a name without a score is left out.
    private static func best(_ names: [String], _ score: (String) -> Int?) -> [String] {
        let scored = names.compactMap { name in score(name).map { (name, $0) } }
        guard let lowest = scored.map(\.1).min() else { return [] }
        return Array(scored.filter { $0.1 == lowest }.map(\.0).prefix(nameCountMax))
    }

    /// The name in one spelling for flags, variables and keys of the file.
    private static func bare(_ name: String) -> [Character] {
        Array(name.lowercased().replacing("_", with: "-").drop { $0 == "-" })
    }

    /// Returns the number of the name's words that were not typed, plus the typing mistakes in the others. Nil if a typed
    /// word is none of the name's.
    private static func wordDifference(_ typed: [Character], from name: [Character]) -> Int? {
        var words = name.split(separator: "-").map(Array.init)
        var mistakeCount = 0
        for word in typed.split(separator: "-").map(Array.init) {
            let distances = words.map { distance(word, $0) }
            guard let least = distances.min(), least <= word.count / 4 else { return nil }
            words.remove(at: distances.firstIndex(of: least) ?? 0)
            mistakeCount += least
        }
        return words.count * characterCountMax + mistakeCount
    }

    /// The number of characters that are inserted, deleted, replaced or swapped with their neighbour.
    static func distance(_ a: [Character], _ b: [Character]) -> Int {
        var rows = [Array(0...b.count)]
        for i in 1..<(a.count + 1) {
            var row = [i]
            for j in 1..<(b.count + 1) {
                var least = min(row[j - 1] + 1, rows[i - 1][j] + 1, rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    least = min(least, rows[i - 2][j - 2] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
