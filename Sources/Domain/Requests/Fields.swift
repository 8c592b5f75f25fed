// The fields of a request, from a JSON body or a query. Each is read once by its type, and all mistakes are reported
// together.

/// Why a value is not of its type: one sentence for each wrong place in it.
package struct Invalid: Error, Equatable {
    /// Relative to the value; an empty path is the value itself.
    package var fields: [Problem.Field]

    package init(_ detail: String) { fields = [Problem.Field("", detail)] }
    package init(fields: [Problem.Field]) { self.fields = fields }

    /// The same mistakes, with paths that begin at the value that holds this one under `step`.
    package func inside(_ step: String) -> Invalid {
        Invalid(fields: fields.map { Problem.Field(FieldPath.join(step, $0.field), $0.detail) })
    }
}

/// A type that can be read from a field of a JSON body.
package protocol JSONField {
    init(_ json: JSONValue) throws(Invalid)
}

/// A type that can be read from text: a field that is a JSON string, or a parameter of a query.
package protocol TextField: JSONField {
    init(text: String) throws(Invalid)
}

extension TextField {
    package init(_ json: JSONValue) throws(Invalid) {
        guard case .string(let text) = json else { throw Invalid("Must be a string.") }
        try self.init(text: text)
    }
}

/// Named values, and the mistakes found so far. `Raw` is a JSON value or the text of a query parameter.
///
/// Read every field, then call `values` or `end`. They throw one problem with all mistakes, unknown names included.
package struct Fields<Raw: Sendable>: Sendable {
    /// Bounds the answer to a document full of mistakes.
    private static var mistakeCountMax: Int { 100 }

    private let given: [(name: String, raw: Raw)]
    private var isRead: [Bool]
    private var mistakes: [Problem.Field]
    /// The sentence about an unknown name. Nil: unknown names are ignored.
    private let unknown: String?

    init(_ given: [(name: String, raw: Raw)], mistakes: [Problem.Field] = [], unknown: String?) {
        self.given = given
        self.isRead = Array(repeating: false, count: given.count)
        self.mistakes = mistakes
        self.unknown = unknown
    }

    private mutating func take(_ name: String) -> Raw? {
        guard let index = given.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
        isRead[index] = true
        return given[index].raw
    }

    /// Returns the field, read by `read`; nil if it is absent or wrong.
    package mutating func given<Value>(_ name: String, _ read: (Raw) throws(Invalid) -> Value) -> Value? {
        guard let raw = take(name) else { return nil }
        do {
            return try read(raw)
        } catch {
            mistakes.append(contentsOf: error.inside(name).fields)
            return nil
        }
    }

    /// Returns all values of a name that may be repeated, in their order.
    package mutating func all<Value>(_ name: String, _ read: (Raw) throws(Invalid) -> Value) -> [Value] {
        var values: [Value] = []
        for index in given.indices where given[index].name.utf8.elementsEqual(name.utf8) {
            isRead[index] = true
            do {
                values.append(try read(given[index].raw))
            } catch {
                mistakes.append(contentsOf: error.inside(name).fields)
            }
        }
        return values
    }

    /// As `given`, but absence is a mistake.
    package mutating func required<Value>(_ name: String, _ read: (Raw) throws(Invalid) -> Value) -> Value? {
        let before = mistakes.count
        let value = given(name, read)
        if value == nil, mistakes.count == before { refuse(name, "Is required.") }
        return value
    }

    /// Whether the field is present, with any value.
    package func has(_ name: String) -> Bool { given.contains { $0.name == name } }

    /// Whether a mistake was recorded in the field so far.
    package func isRefused(_ name: String) -> Bool {
        mistakes.contains { $0.field == name || $0.field.hasPrefix(name + ".") || $0.field.hasPrefix(name + "[") }
    }

    /// Records a mistake that the type of a single field cannot see.
    package mutating func refuse(_ name: String, _ detail: String) { mistakes.append(Problem.Field(name, detail)) }

    /// Throws the mistakes, if any. Read nothing afterwards.
    package func end() throws(Invalid) {
        var all = mistakes
        for (index, field) in given.enumerated() where !isRead[index] {
            guard let unknown else { break }
            // Further mistakes are not reported, so nothing more is checked.
            if all.count >= Self.mistakeCountMax { break }
            all.append(Problem.Field(FieldPath.step(field.name), unknown))
        }
        if !all.isEmpty { throw Invalid(fields: Array(all.prefix(Self.mistakeCountMax))) }
    }

    /// Returns the values of the required fields, or throws the mistakes.
    package func values<each Value>(_ values: repeat (each Value)?) throws(Invalid) -> (repeat each Value) {
        try end()
        return (repeat try Self.present(each values))
    }

    private static func present<Value>(_ value: Value?) throws(Invalid) -> Value {
        // Without mistakes every required field was read. A nil here is a field that was read as optional.
        guard let value else { throw Invalid("Is required.") }
        return value
    }
}

extension Fields where Raw == JSONValue {
    /// Reads the members of an object; refuses anything else.
    /// - Parameter ignoresUnknown: whether unknown members are no mistake, as in archives of other versions.
    package init(_ body: JSONValue, ignoresUnknown: Bool = false) throws(Invalid) {
        guard case .object(let members) = body else { throw Invalid("Must be a JSON object.") }
        self.init(members.map { ($0.key, $0.value) }, unknown: ignoresUnknown ? nil : "There is no such field.")
    }

    package mutating func required<Value: JSONField>(_ name: String, _: Value.Type) -> Value? {
        required(name) { json throws(Invalid) in try Value(json) }
    }

    /// An optional field; null counts as absent.
    package mutating func optional<Value: JSONField>(_ name: String, _: Value.Type) -> Value? {
        optional(name) { json throws(Invalid) in try Value(json) }
    }

    package mutating func optional<Value>(_ name: String, _ read: (JSONValue) throws(Invalid) -> Value) -> Value? {
        let value = given(name) { json throws(Invalid) -> Value? in
            if case .null = json { nil } else { try read(json) }
        }
        return value ?? nil
    }
}

extension Fields where Raw == String {
    package mutating func required<Value: TextField>(_ name: String, _: Value.Type) -> Value? {
        required(name) { text throws(Invalid) in try Value(text: text) }
    }

    package mutating func optional<Value: TextField>(_ name: String, _: Value.Type) -> Value? {
        given(name) { text throws(Invalid) in try Value(text: text) }
    }
}

extension Problem {
    /// 422 with every mistake. A mistake about the whole body has the field `body`.
    package init(_ invalid: Invalid) {
        self = .invalid(invalid.fields.map { Problem.Field($0.field.isEmpty ? "body" : $0.field, $0.detail) })
    }
}
