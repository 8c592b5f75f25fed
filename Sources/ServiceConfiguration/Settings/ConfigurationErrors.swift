// All that is wrong with a configuration, told at once.

/// The mistakes in the command line, the environment and the configuration file, in that order. No secret is in them.
package struct ConfigurationErrors: Error, Equatable, CustomStringConvertible {
    /// Whole sentences; never empty.
    package let mistakes: [String]

    package init(mistakes: [String]) { self.mistakes = mistakes }

    /// The sentence, or a list of them under a heading.
    package var description: String {
        if mistakes.count == 1 { return mistakes[0] }
        return "The configuration has \(mistakes.count) mistakes:\n"
            + mistakes.map { "  - \($0)" }.joined(separator: "\n")
    }
}

extension String {
    /// In quotes, short, and on one line whatever it holds: for repeating what a person typed.
    var quoted: String {
        let plain = unicodeScalars.prefix(100).map { scalar in
            scalar.properties.generalCategory == .control ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }
        return "\"\(plain.joined())\(unicodeScalars.count > 100 ? "…" : "")\""
    }
}
