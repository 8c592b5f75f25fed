// Why a text is not a JSON document, and where.

/// Why a text is not a JSON document that the reader's rules accept.
package struct JSONError: Error, Equatable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        case unexpectedByte
        case unexpectedEnd
        case trailingBytes
        case notUTF8
        case loneSurrogate
        case tooDeep
        case tooManyValues
        case repeatedKey
        /// JSON allows it, but PostgreSQL cannot store it.
        case nulCharacter
        /// Outside a double's range, or longer than numbers need to be.
        case numberOutOfRange
    }

    package var reason: Reason
    /// The byte at which reading stopped, from 0.
    package var offset: Int
    /// The place in the document, as `payload.points[2]`; empty at the top.
    package var path = ""

    package var description: String {
        "byte \(offset) of the JSON text\(path.isEmpty ? "" : ", in \(path),") is invalid: \(reason)"
    }

    func inside(_ step: String) -> JSONError {
        var error = self
        error.path = FieldPath.join(step, path)
        return error
    }
}

/// Paths as problem documents show them: `payload.text`, `receipts[3].read`.
package enum FieldPath {
    /// A path may contain a key of the client, so at most a bounded part of a key is shown.
    private static let stepCharacterCountMax = 64

    package static func step(_ name: String) -> String { String(name.prefix(stepCharacterCountMax)) }

    package static func join(_ step: String, _ rest: String) -> String {
        let step = self.step(step)
        return rest.isEmpty || rest.hasPrefix("[") ? step + rest : "\(step).\(rest)"
    }
}
