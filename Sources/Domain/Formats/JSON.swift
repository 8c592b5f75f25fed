// JSON is a part of the domain's vocabulary: what imports Domain reads and writes JSON.
@_exported import ParleyFormats

extension Problem {
    /// 422 for a well-formed document with a value that cannot be stored, if its place is known; otherwise 400.
    package init(_ error: JSONError) {
        let what =
            switch error.reason {
            case .unexpectedByte: "a character that JSON does not allow there"
            case .unexpectedEnd: "the end of the text"
            case .trailingBytes: "text after the end of the document"
            case .notUTF8: "a string that is not UTF-8"
            case .loneSurrogate: "half of a surrogate pair"
            case .tooDeep: "arrays and objects nested more than \(JSONRules.strict.depthMax) deep"
            case .tooManyValues: "more values than a body may have"
            case .repeatedKey: "a repeated key in an object"
            case .nulCharacter: "the character U+0000"
            case .numberOutOfRange:
                "a number outside a double's range, or with more than \(JSONRules.strict.numberByteCountMax) characters"
            }
        switch error.reason {
        case .nulCharacter where !error.path.isEmpty, .numberOutOfRange where !error.path.isEmpty:
            self = .invalid(error.path, "Must not have \(what).")
        default:
            self.init(.malformedJSON, "The body is not valid JSON: found \(what) at byte \(error.offset).")
        }
    }
}
