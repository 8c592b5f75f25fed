// Comparing an example in the documentation with what a node sends.

extension JSON {
    /// The paths at which another value has other keys or another kind of value: `data.sender is null, not an object`.
    /// Compares only the first elements of arrays, where both have one.
    func differences(from other: JSON, at path: String = "") -> [String] {
        switch (self, other) {
        case (.object, .object):
            let missing = keys.symmetricDifference(other.keys).sorted().map { "\(path).\($0) is in one of the two" }
            return missing
                + keys.intersection(other.keys).sorted().flatMap {
                    self[$0].differences(from: other[$0], at: "\(path).\($0)")
                }
        case (.array, .array):
            guard let own = items.first, let first = other.items.first else {
                return items.isEmpty == other.items.isEmpty ? [] : ["\(path) is empty in one of the two"]
            }
            return own.differences(from: first, at: "\(path)[0]")
        default:
            return kind == other.kind ? [] : ["\(path) is \(other.kind), not \(kind)"]
        }
    }

    private var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
