// Times as other systems write them.
import Domain

extension Timestamp {
    /// Seconds since 1970 as a decimal number: `1355517523.000005`, as text or JSON number. Exponents are read as a
    /// double. Nil for anything else, and for times before 1970.
    init?(decimalSeconds text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = parts.count > 1 ? parts[1] : ""
        let isDecimal = (parts + [fraction]).allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        if isDecimal, let first = parts.first, let seconds = Int64(first) {
            let digits = fraction.prefix(6) + String(repeating: "0", count: max(0, 6 - fraction.count))
            self.init(checked: seconds, Int64(digits) ?? 0)
        } else {
            guard let seconds = Double(text), (0..<253_402_300_800).contains(seconds) else { return nil }
            self.init(microsSince1970: Int64(seconds * 1_000_000))
        }
    }

    /// Milliseconds since 1970. Nil before 1970 and after 9999.
    init?(milliseconds: Int64) {
        guard milliseconds >= 0 else { return nil }
        self.init(checked: milliseconds / 1_000, milliseconds % 1_000 * 1_000)
    }

    private init?(checked seconds: Int64, _ micros: Int64) {
        guard (0..<253_402_300_800).contains(seconds) else { return nil }
        self.init(microsSince1970: seconds * 1_000_000 + micros)
    }
}

extension JSONValue {
    /// A time in seconds: a number, or a text with one.
    var seconds: Timestamp? {
        switch self {
        case .number(let number): Timestamp(decimalSeconds: number.text)
        case .string(let text): Timestamp(decimalSeconds: text)
        default: nil
        }
    }

    /// A time in milliseconds; nil for 0, which systems write for none.
    var milliseconds: Timestamp? {
        guard let value = integer ?? double.flatMap({ Int64(exactly: $0.rounded()) }), value > 0 else { return nil }
        return Timestamp(milliseconds: value)
    }

    /// A text that is not empty.
    func text(_ key: String) -> String? { self[key]?.string.flatMap { $0.isEmpty ? nil : $0 } }

    /// The entries of an array; none if there is no such member.
    func list(_ key: String) -> [JSONValue] { self[key]?.array ?? [] }

    func isTrue(_ key: String) -> Bool { self[key]?.bool == true }
}
