// Query strings: undoes percent-encoding, separates the parameters, and reads those that all lists share.

/// No call has more than a few parameters; names are compared one by one.
private let queryParameterCountMax = 32

extension Fields where Raw == String {
    /// Reads a query as sent, without its `?`; nil for none. A parameter that cannot be decoded, or a repeated name, is
    /// a mistake like others. `+` is a space, as in forms.
    /// - Parameter list: the name of a parameter that may be repeated.
    package init(query: Substring, list: String? = nil) {
        var given: [(name: String, raw: String)] = []
        var mistakes: [Problem.Field] = []
        // The last piece holds all that follows, and is not split further.
        for pair in Array(query.utf8).split(separator: UInt8(ascii: "&"), maxSplits: queryParameterCountMax) {
            guard given.count + mistakes.count < queryParameterCountMax else {
                mistakes.append(Problem.Field("query", "Must have at most \(queryParameterCountMax) parameters."))
                break
            }
            let nameEnd = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = percentDecoded(pair[..<nameEnd]) else {
                mistakes.append(Problem.Field("query", "A parameter's name must be valid percent-encoded UTF-8."))
                continue
            }
            guard let value = percentDecoded(pair[nameEnd...].dropFirst()) else {
                mistakes.append(
                    Problem.Field(FieldPath.step(name), "Must be valid percent-encoded UTF-8."))
                continue
            }
            if name != list, given.contains(where: { $0.name == name }) {
                mistakes.append(Problem.Field(FieldPath.step(name), "Must be given only once."))
            } else if value.utf8.contains(0) {
                mistakes.append(Problem.Field(FieldPath.step(name), "Must not have the character U+0000."))
            } else {
                given.append((name, value))
            }
        }
        self.init(given, mistakes: mistakes, unknown: "There is no such parameter.")
    }

    /// `limit`, or its default.
    package mutating func limit(default standard: Int = PageRequest.limitDefault) -> Int {
        let limit = given("limit") { text throws(Invalid) in
            guard let count = Int(text), (1...PageRequest.limitMax).contains(count), text.utf8.first != 0x2b else {
                throw Invalid("Must be a whole number from 1 to \(PageRequest.limitMax).")
            }
            return count
        }
        return limit ?? standard
    }

    /// `limit` and `page`.
    package mutating func pageRequest() -> PageRequest {
        PageRequest(limit: limit(), after: optional("page", PageKey.self))
    }
}

/// Undoes percent-encoding. Nil for a broken escape, or if the result is not UTF-8. In paths `+` is itself.
package func percentDecoded(_ encoded: Substring.UTF8View, plusIsSpace: Bool = true) -> String? {
    percentDecoded(Array(encoded)[...], plusIsSpace: plusIsSpace)
}

private func percentDecoded(_ encoded: ArraySlice<UInt8>, plusIsSpace: Bool = true) -> String? {
    if !encoded.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) {
        return String(validating: encoded, as: UTF8.self)
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(encoded.count)
    var rest = encoded.makeIterator()
    while let byte = rest.next() {
        switch byte {
        case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
        case UInt8(ascii: "%"):
            guard let high = rest.next()?.hexadecimalDigit, let low = rest.next()?.hexadecimalDigit
            else { return nil }
            bytes.append(high << 4 | low)
        default: bytes.append(byte)
        }
    }
    return String(validating: bytes, as: UTF8.self)
}
