// Why an import ends without being applied.

package enum ImportFailure: Error, Equatable {
    /// A line of the archive is wrong. The number is from 1.
    case badLine(Int, String)
}

extension ImportFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .badLine(let line, let detail): "Line \(line): \(detail)"
        }
    }
}
