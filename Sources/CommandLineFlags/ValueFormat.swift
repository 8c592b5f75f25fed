// Parses and prints one value. Flags, variables and the file share these formats.

/// The text format of a value.
package struct ValueFormat<Value: Sendable>: Sendable {
    /// Describes a valid value; completes the sentence "… is not": "a whole number from 1 to 9".
    package let expectation: String
    /// Returns nil for invalid text.
    package let parse: @Sendable (String) -> Value?
    package let print: @Sendable (Value) -> String

    package init(
        expectation: String, parse: @escaping @Sendable (String) -> Value?, print: @escaping @Sendable (Value) -> String
    ) {
        self.expectation = expectation
        self.parse = parse
        self.print = print
    }
}

extension ValueFormat {
    /// The format for a value that may be unset.
    package static func optional<Wrapped>(_ format: ValueFormat<Wrapped>) -> Self where Value == Wrapped? {
        // The outer optional of `parse` says whether the text is valid, the inner one is the value.
        Self(
            expectation: format.expectation, parse: { text in format.parse(text).map { .some($0) } },
            print: { $0.map(format.print) ?? "" })
    }
}

extension ValueFormat<Int> {
    package static func integer(_ range: ClosedRange<Int>) -> Self {
        ValueFormat(
            expectation: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            // Digits only: `Int` would also accept "+8".
            parse: { text in
                guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
                return Int(text).flatMap { range.contains($0) ? $0 : nil }
            },
            print: String.init)
    }
}

extension ValueFormat<String> {
    /// The address of a node.
    package static var httpURL: Self {
        ValueFormat(
            expectation: "an address of the form http://host:port",
            parse: { text in
                let rest = text.hasPrefix("http://") ? text.dropFirst(7) : ""
                let isPlain = rest.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "@") }
                return isPlain && !rest.isEmpty && !rest.dropLast().contains("/") && rest != "/" ? text : nil
            },
            print: { $0 })
    }

    /// The admin token of a service.
    package static var adminToken: Self {
        ValueFormat(
            expectation: "a token of at least one character",
            parse: { text in text.isEmpty || text.utf8.contains { $0 <= 0x20 || $0 == 0x7f } ? nil : text },
            print: { $0 })
    }

    /// Checks only the form. libpq validates the rest when it connects.
    package static var connectionString: Self {
        ValueFormat(
            expectation: "a PostgreSQL URL (postgresql://…) or libpq keywords (host=… dbname=…)",
            parse: { text in
                if let scheme = text.firstRange(of: "://"), !text[..<scheme.lowerBound].contains("=") {
                    return ["postgres", "postgresql"].contains(text[..<scheme.lowerBound]) ? text : nil
                }
                return text.contains("=") && !text.hasPrefix("=") ? text : nil
            },
            print: ConnectionString.redacted)
    }
}
