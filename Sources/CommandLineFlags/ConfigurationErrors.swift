// All mistakes of a configuration in one error.

/// The mistakes in the command line, the environment and the configuration file, in that order, without secrets.
package struct ConfigurationErrors: Error, Equatable, CustomStringConvertible {
    /// Complete sentences; at least one.
    package let mistakes: [String]

    package init(mistakes: [String]) { self.mistakes = mistakes }

    /// The only mistake, or a list of all under a heading.
    package var description: String {
        if mistakes.count == 1 { return mistakes[0] }
        return "The configuration has \(mistakes.count) mistakes:\n"
            + mistakes.map { "  - \($0)" }.joined(separator: "\n")
    }
}

extension String {
    /// The text in quotes on one line, at most 100 characters, with control characters escaped. For echoing user input.
    package var quoted: String {
        let plain = unicodeScalars.prefix(100).map { scalar in
            scalar.properties.generalCategory == .control ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }
        return "\"\(plain.joined())\(unicodeScalars.count > 100 ? "…" : "")\""
    }
}
