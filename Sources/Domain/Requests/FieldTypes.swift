// How common types are read from fields: booleans, whole numbers, ids, times, sets of words, lists.

extension Bool: TextField {
    package init(_ json: JSONValue) throws(Invalid) {
        guard case .bool(let value) = json else { throw Invalid("Must be true or false.") }
        self = value
    }

    package init(text: String) throws(Invalid) {
        switch text {
        case "true": self = true
        case "false": self = false
        default: throw Invalid("Must be true or false.")
        }
    }
}

/// Reads null as nil: for a field that null clears.
extension Optional: JSONField where Wrapped: JSONField {
    package init(_ json: JSONValue) throws(Invalid) {
        if case .null = json { self = nil } else { self = try Wrapped(json) }
    }
}

extension Identifier: JSONField, TextField {
    package init(text: String) throws(Invalid) {
        guard let id = Self(parsing: text) else { throw Invalid("Must be a UUID.") }
        self = id
    }
}

/// One of a closed set of words.
package protocol WordField: TextField, RawRepresentable, CaseIterable where RawValue == String {}

extension WordField {
    package init(text: String) throws(Invalid) {
        guard let word = Self(rawValue: text) else {
            throw Invalid("Must be one of: \(Self.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        self = word
    }
}

extension ThreadKind: WordField {}
extension MemberRole: WordField {}
extension MemberStatus: WordField {}

extension Seq: JSONField {
    /// A whole number from 0 on. 0 is before the first message.
    package init(_ json: JSONValue) throws(Invalid) {
        guard let value = json.integer, value >= 0 else { throw Invalid("Must be a whole number, 0 or more.") }
        self.init(value)
    }
}

extension Timestamp: TextField {
    /// RFC 3339 with a four-digit year, not before 1970.
    package init(text: String) throws(Invalid) {
        guard let time = Timestamp(parsing: text), (0...253_402_300_799_999_999).contains(time.microsSince1970) else {
            throw Invalid("Must be an RFC 3339 time from 1970 to 9999.")
        }
        self = time
    }
}

extension Cursor: TextField {
    package init(text: String) throws(Invalid) {
        guard text.utf8.count <= Cursor.textByteCountMax else {
            throw Invalid("Must have at most \(Cursor.textByteCountMax) characters.")
        }
        guard let cursor = Cursor(parsing: text) else { throw Invalid("Must be a cursor that this service returned.") }
        self = cursor
    }
}

extension PageKey: TextField {
    package init(text: String) throws(Invalid) {
        guard let key = PageKey(parsing: text) else { throw Invalid("Must be the `next` of an earlier page.") }
        self = key
    }
}

extension JSONValue {
    /// The entries of an array, each read by its type. Reports the mistakes of all entries.
    package func entries<Entry>(
        countMax: Int, _ read: (JSONValue) throws(Invalid) -> Entry
    ) throws(Invalid) -> [Entry] {
        guard case .array(let items) = self else { throw Invalid("Must be an array.") }
        guard items.count <= countMax else { throw Invalid("Must have at most \(countMax) entries.") }
        var entries: [Entry] = []
        var mistakes: [Problem.Field] = []
        entries.reserveCapacity(items.count)
        for (index, item) in items.enumerated() {
            do {
                entries.append(try read(item))
            } catch {
                mistakes.append(contentsOf: error.inside("[\(index)]").fields)
            }
        }
        guard mistakes.isEmpty else { throw Invalid(fields: mistakes) }
        return entries
    }
}

extension Array where Element: Hashable {
    /// The elements in order, without repetitions.
    package var withoutRepeats: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
